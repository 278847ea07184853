#include "titer/script/put_at.hpp"

#include <string>
#include <utility>

namespace titer {

void put_at(Value& root, std::string_view path, Value value, Origin at) {
  Value* object = &root;
  while (true) {
    const std::size_t dot = path.find('.');
    const std::string key(path.substr(0, dot));
    const bool is_last = dot == std::string_view::npos;
    Value* const there = object->find(key);
    if (is_last) {
      if (there == nullptr) {
        object->add(key, std::move(value));
        object->key_origins.back() = at;
      } else if (there->kind != Value::Kind::object || value.kind != Value::Kind::text) {
        *there = std::move(value);
      }
      return;
    }
    if (there == nullptr) {
      object->add(key, Value::make_object());
      object->key_origins.back() = at;
    } else if (there->kind != Value::Kind::object) {
      *there = Value::make_object();
    }
    object = object->find(key);
    path.remove_prefix(dot + 1);
  }
}

}  // namespace titer
