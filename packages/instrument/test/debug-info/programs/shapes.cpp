#include <algorithm>
#include <map>
#include <string>
#include <vector>

namespace app {

template <class T>
struct Box {
  T value;
  T get() const { return value; }
};

struct Shape {
  virtual ~Shape() {}
  virtual int area(int) = 0;
};

struct Square : Shape {
  int area(int x) override { return x * x; }
};

struct Scaled : Shape {
  int area(int x) override {
    auto scale = [&](int y) { return y * x; };
    return scale(x);
  }
};

}  // namespace app

__attribute__((noinline)) int total(int count) {
  std::vector<int> values;
  for (int i = 0; i < count; i++) values.push_back((i * 7919) % 101);
  std::sort(values.begin(), values.end());
  std::map<std::string, int> sums;
  for (int value : values) sums[std::to_string(value)] += value;
  app::Square square;
  app::Scaled scaled;
  app::Shape *shapes[] = {&square, &scaled};
  int result = app::Box<int>{3}.get();
  for (auto *shape : shapes) result += shape->area(count);
  for (auto &entry : sums) result += entry.second;
  return result;
}

int main(int argc, char **) { return total(argc) & 1; }
