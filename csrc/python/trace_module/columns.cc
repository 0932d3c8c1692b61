#include "python/trace_module/columns.h"

#include <nanobind/ndarray.h>

#include <memory>

namespace nb = nanobind;

namespace rlscope::python {
namespace {

template <class T>
struct NumpyType {
  using type = T;
};
template <>
struct NumpyType<Bool> {
  using type = bool;
};

template <class T>
nb::object ToPython(std::vector<T>&& values) {
  using Element = typename NumpyType<T>::type;
  auto owned = std::make_unique<std::vector<T>>(std::move(values));
  std::vector<T>* array = owned.get();
  nb::capsule owner(owned.release(),
                    [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  const size_t shape[] = {array->size()};
  return nb::cast(nb::ndarray<nb::numpy, Element, nb::ndim<1>>(
      reinterpret_cast<Element*>(array->data()), 1, shape, owner));
}

nb::object ToPython(std::vector<std::string>&& values) {
  nb::list list;
  for (const std::string& text : values) list.append(ToStr(text));
  return list;
}

nb::object ToPython(Nulls&& values) {
  nb::list list;
  for (size_t i = 0; i < values.count; ++i) list.append(nb::none());
  return list;
}

nb::object ToPython(Words&& values) {
  std::vector<nb::str> words;
  for (const std::string& word : values.words) words.push_back(ToStr(word));
  nb::list list;
  for (uint8_t index : values.index) list.append(words[index]);
  return list;
}

}  // namespace

nb::dict Columns::TakeDict() {
  nb::dict dict;
  for (auto& [name, values] : columns_) {
    dict[name] =
        std::visit([](auto&& column) { return ToPython(std::move(column)); }, std::move(values));
  }
  columns_.clear();
  return dict;
}

nb::str ToStr(const std::string& text) {
  PyObject* str =
      PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace");
  if (str == nullptr) nb::raise_python_error();
  return nb::steal<nb::str>(str);
}

}  // namespace rlscope::python
