// Counts allocations by a global allocator of its own, and ends without the clean-up of the standard library.
use std::alloc::{GlobalAlloc, Layout, System};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

struct Counting;

static ALLOCATIONS: AtomicUsize = AtomicUsize::new(0);
static ALLOCATED: AtomicUsize = AtomicUsize::new(0);
static FREES: AtomicUsize = AtomicUsize::new(0);
static FREED: AtomicUsize = AtomicUsize::new(0);
static CALLS: AtomicUsize = AtomicUsize::new(0);

fn allocated(size: usize) {
    ALLOCATIONS.fetch_add(1, Relaxed);
    ALLOCATED.fetch_add(size, Relaxed);
}

fn freed(size: usize) {
    FREES.fetch_add(1, Relaxed);
    FREED.fetch_add(size, Relaxed);
}

unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        allocated(layout.size());
        System.alloc(layout)
    }
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        allocated(layout.size());
        System.alloc_zeroed(layout)
    }
    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        freed(layout.size());
        allocated(size);
        System.realloc(pointer, layout, size)
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        freed(layout.size());
        System.dealloc(pointer, layout)
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

#[inline(never)]
fn step(number: usize, kept: &mut BTreeMap<usize, String>) {
    CALLS.fetch_add(1, Relaxed);
    let texts: Vec<String> = (0..number % 20).map(|at| format!("{} {}", number, at)).collect();
    if number % 3 == 0 {
        kept.insert(number, texts.concat());
    } else {
        kept.remove(&(number / 2));
    }
}

extern "C" {
    fn _Exit(code: i32) -> !;
}

fn main() {
    let mut kept = BTreeMap::new();
    for number in 0..1000 {
        step(number, &mut kept);
    }
    println!("{}", vec![0u64; kept.len()].len());
    let of = |counter: &AtomicUsize| counter.load(Relaxed);
    println!("{} {} {} {} 0 {}", of(&ALLOCATIONS), of(&ALLOCATED), of(&FREES), of(&FREED), of(&CALLS));
    unsafe { _Exit(0) }
}
