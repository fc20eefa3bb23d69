use std::collections::HashMap;

trait Shape {
    fn area(&self) -> f64;
}

struct Square(f64);
struct Circle(f64);

impl Shape for Square {
    fn area(&self) -> f64 {
        self.0 * self.0
    }
}

impl Shape for Circle {
    fn area(&self) -> f64 {
        self.0 * self.0 * 3.14
    }
}

#[no_mangle]
pub extern "C" fn total(count: u32) -> f64 {
    let mut shapes: Vec<Box<dyn Shape>> = Vec::new();
    for size in 0..count {
        if size % 2 == 0 {
            shapes.push(Box::new(Square(size as f64)))
        } else {
            shapes.push(Box::new(Circle(size as f64)))
        }
    }
    let mut sums: HashMap<u32, f64> = HashMap::new();
    for (at, shape) in shapes.iter().enumerate() {
        *sums.entry(at as u32 % 7).or_insert(0.0) += shape.area();
    }
    sums.values().sum::<f64>() + format!("{:?}", sums).len() as f64
}
