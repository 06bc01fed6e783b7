// A process around hnswlib that the benchmark talks to. It is started with
//
//   driver BASE.fvecs QUERIES.fvecs ip|l2 M EF_CONSTRUCTION
//
// reads one command a line and answers each with one line of CSV. Times are nanoseconds of this thread's
// processor clock.
//
//   add FROM TO        inserts rows FROM to TO-1            add,FROM,TO,NANOSECONDS
//   search EF K PATH   answers all queries, ids to PATH     search,EF,K,NANOSECONDS
//   bytes              memory of vectors and graph          bytes,BYTES
#include <hnswlib/hnswlib.h>

#include <time.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

namespace {

struct Matrix {
  size_t dim = 0;
  size_t rows = 0;
  std::vector<float> values;
  const float* row(size_t i) const { return values.data() + i * dim; }
};

[[noreturn]] void fail(const std::string& what) {
  std::cerr << "driver: " << what << std::endl;
  std::exit(1);
}

Matrix read(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) fail("cannot open " + path);
  Matrix m;
  int32_t dim;
  while (in.read(reinterpret_cast<char*>(&dim), sizeof dim)) {
    if (dim <= 0 || (m.dim != 0 && static_cast<size_t>(dim) != m.dim)) fail("bad row in " + path);
    m.dim = dim;
    m.values.resize((m.rows + 1) * m.dim);
    if (!in.read(reinterpret_cast<char*>(&m.values[m.rows * m.dim]), m.dim * sizeof(float))) fail("short row in " + path);
    m.rows++;
  }
  return m;
}

int64_t now() {
  timespec t;
  if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t) != 0) fail("no thread clock");
  return int64_t(t.tv_sec) * 1000000000 + t.tv_nsec;
}

using Index = hnswlib::HierarchicalNSW<float>;

// Leaves the labels of the k nearest in out, nearest first.
void find(Index& index, const float* query, size_t k, std::vector<uint32_t>& out) {
  auto found = index.searchKnn(query, k);
  out.resize(found.size());
  for (size_t i = found.size(); i-- > 0; found.pop()) out[i] = static_cast<uint32_t>(found.top().second);
}

// The memory of the ground level and of the levels above it, the locks and levels of the elements.
size_t bytes(const Index& index) {
  size_t n = index.cur_element_count;
  size_t total = n * (index.size_data_per_element_ + sizeof(char*) + sizeof(std::mutex) + sizeof(int));
  for (size_t i = 0; i < n; i++) total += index.element_levels_[i] * index.size_links_per_element_;
  return total;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 6) fail("usage: driver BASE.fvecs QUERIES.fvecs ip|l2 M EF_CONSTRUCTION");
  Matrix base = read(argv[1]), queries = read(argv[2]);
  std::unique_ptr<hnswlib::SpaceInterface<float>> space;
  if (std::string(argv[3]) == "l2") {
    space.reset(new hnswlib::L2Space(base.dim));
  } else {
    space.reset(new hnswlib::InnerProductSpace(base.dim));
  }
  Index index(space.get(), base.rows, std::atoi(argv[4]), std::atoi(argv[5]));
  std::vector<std::vector<uint32_t>> answers(queries.rows);
  std::string line, command;
  while (std::getline(std::cin, line)) {
    std::istringstream words(line);
    words >> command;
    if (command == "add") {
      size_t from, to;
      if (!(words >> from >> to) || to > base.rows) fail("bad command: " + line);
      int64_t began = now();
      for (size_t i = from; i < to; i++) index.addPoint(base.row(i), i);
      std::cout << "add," << from << "," << to << "," << now() - began << std::endl;
    } else if (command == "search") {
      size_t ef, k;
      std::string path;
      if (!(words >> ef >> k) || !std::getline(words >> std::ws, path)) fail("bad command: " + line);
      index.setEf(ef);
      const size_t warm = std::min<size_t>(queries.rows, 32);
      for (size_t i = 0; i < warm; i++) find(index, queries.row(i), k, answers[i]);
      int64_t began = now();
      for (size_t i = 0; i < queries.rows; i++) find(index, queries.row(i), k, answers[i]);
      int64_t took = now() - began;
      std::ofstream out(path, std::ios::binary);
      for (const auto& ids : answers) {
        int32_t n = ids.size();
        out.write(reinterpret_cast<const char*>(&n), sizeof n);
        out.write(reinterpret_cast<const char*>(ids.data()), n * sizeof(uint32_t));
      }
      out.close();
      if (!out) fail("cannot write " + path);
      std::cout << "search," << ef << "," << k << "," << took << std::endl;
    } else if (command == "bytes") {
      std::cout << "bytes," << bytes(index) << std::endl;
    } else {
      fail("unknown command: " + line);
    }
  }
}
