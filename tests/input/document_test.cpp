#include "titer/input/document.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <limits>

#include "titer/input/file.hpp"
#include "titer/input/reader.hpp"
#include "titer/units/ensure.hpp"

namespace titer {
namespace TITER_TEST_FILE {

TEST(Value, RemembersWhetherANumberIsAnInteger) {
  EXPECT_TRUE(Value(3).is_integer);
  EXPECT_EQ(Value(3).number, 3.0);
  EXPECT_EQ(Value(std::int64_t{1} << 40).integer, std::int64_t{1} << 40);
  EXPECT_FALSE(Value(3.0).is_integer);
}

TEST(Value, TakesAStringLiteralAsText) {
  EXPECT_EQ(Value("on").kind, Value::Kind::text) << "and not as a bool";
  EXPECT_EQ(Value(true).kind, Value::Kind::boolean);
  EXPECT_EQ(Value().kind, Value::Kind::null);
}

TEST(Value, FindsMembersByKey) {
  Value object = Value::make_object();
  object.add("a", 1).add("b", "two");
  EXPECT_EQ(object.find("b")->text, "two");
  EXPECT_EQ(object.find("c"), nullptr);
  EXPECT_EQ(Value(1).find("a"), nullptr) << "not an object";
  object.find("a")->integer = 5;
  EXPECT_EQ(std::as_const(object).find("a")->integer, 5);
  EXPECT_EQ(object.key_origins.size(), object.members.size());
}

TEST(Value, ErasesAMemberWithThePlaceOfItsKey) {
  Document document = parse_json("{\"a\": 1,\n \"b\": 2,\n \"c\": 3}", "f");
  document.root.erase("b");
  document.root.erase("d");
  EXPECT_EQ(to_json(document.root, 0), R"({"a":1,"c":3})");
  ASSERT_EQ(document.root.key_origins.size(), 2U);
  EXPECT_EQ(document.where(document.root.key_origins[1]), "f:3:2");
}

TEST(Value, IsChangedAtADottedPath) {
  Document document = parse_json(R"({"axes": [{"values": [1, 2]}]})", "f");
  *document.root.at("axes.0.values.1") = 5;
  EXPECT_EQ(to_json(document.root, 0), R"({"axes":[{"values":[1,5]}]})");
  EXPECT_EQ(document.root.at("axes.1"), nullptr);
  EXPECT_EQ(document.root.at("axes.0")->at("values.0")->integer, 1) << "from any value on";
}

TEST(Value, IsBuiltOnlyFromTheRightKind) {
  EXPECT_THROW(Value(1).add("a", 1), Defect);
  EXPECT_THROW(Value::make_object().push(1), Defect);
  EXPECT_THROW(Value::make_object().add("a", 1).add("a", 2), Defect) << "a key twice";
}

TEST(Document, SaysWhereAValueWasWritten) {
  const Document document{.root = {}, .sources = {"run.json", "--set plan.tensor=3"}};
  EXPECT_EQ(document.where({.source = 0, .line = 7, .column = 15}), "run.json:7:15");
  EXPECT_EQ(document.where({.source = 1, .line = 0, .column = 0}), "--set plan.tensor=3");
  EXPECT_EQ(document.where({}), "");
  EXPECT_EQ(document.where({.source = 2, .line = 1, .column = 1}), "") << "no such source";
}

TEST(Document, FindsValuesByDottedPath) {
  const auto document = parse_json(R"({"plan": {"tensor": 8}, "axes": [{"values": [1, 2]}]})", "f");
  EXPECT_EQ(document.at(""), &document.root);
  EXPECT_EQ(document.at("plan.tensor")->integer, 8);
  EXPECT_EQ(document.at("axes.0.values.1")->integer, 2);
  for (const char* path : {"plan.data",
                           "plan.tensor.x",
                           "axes.1",
                           "axes.-1",
                           "axes.0x",
                           "axes.x",
                           "axes.99999999999999999999",
                           ".plan",
                           "plan..tensor"}) {
    EXPECT_EQ(document.at(path), nullptr) << path;
  }
}

TEST(JoinPath, StaysOnOneLine) {
  EXPECT_EQ(join_path("", "plan"), "plan");
  EXPECT_EQ(join_path("plan", "tensor"), "plan.tensor");
  EXPECT_EQ(join_path("plan", "a\nb"), "plan.a\\nb");
}

TEST(Adopt, KeepsThePlacesOfBothDocuments) {
  Document run = parse_json("{\"model\": \"m\"}", "run.json");
  Document model = parse_json("{\n\"layers\": [96],\n \"by_hand\": 0}", "model.json");
  model.root.add("new", 1);
  const Value adopted = adopt(run, std::move(model));
  ASSERT_EQ(run.sources, (std::vector<std::string>{"run.json", "model.json"}));
  *run.root.find("model") = adopted;
  EXPECT_EQ(run.where(run.root.origin), "run.json:1:1");
  EXPECT_EQ(run.where(run.at("model")->origin), "model.json:1:1");
  EXPECT_EQ(run.where(run.at("model.layers.0")->origin), "model.json:2:12");
  EXPECT_EQ(run.where(adopted.key_origins[1]), "model.json:3:2");
  EXPECT_EQ(run.where(run.at("model.new")->origin), "") << "written by no one";
}

TEST(Adopt, AddsUpOverManyDocuments) {
  Document all = parse_json("[]", "0");
  for (int i = 1; i < 4; ++i) {
    all.root.push(adopt(all, parse_json("{}", std::to_string(i))));
    EXPECT_EQ(all.where(all.root.items.back().origin), std::to_string(i) + ":1:1");
  }
}

TEST(ToJson, KeepsKeysInOrder) {
  Value object = Value::make_object();
  object.add("z", 1).add("a", Value::make_array().push(true).push(Value()).push("x"));
  EXPECT_EQ(to_json(object, 0), R"({"z":1,"a":[true,null,"x"]})");
  EXPECT_EQ(to_json(object), "{\n  \"z\": 1,\n  \"a\": [\n    true,\n    null,\n    \"x\"\n  ]\n}");
  EXPECT_EQ(to_json(Value::make_object(), 0), "{}");
}

TEST(ToJson, WritesNumbersShortAndWithoutLoss) {
  EXPECT_EQ(to_json(Value(0.1), 0), "0.1");
  EXPECT_EQ(to_json(Value(1.0), 0), "1.0");
  EXPECT_EQ(to_json(Value(1e300), 0), "1e+300");
  EXPECT_EQ(to_json(Value(std::numeric_limits<std::int64_t>::min()), 0), "-9223372036854775808");
  for (const double number : {0.1 + 0.2, 1.0 / 3.0, 5e-324, 1.7976931348623157e308, -2.5e-7}) {
    EXPECT_EQ(parse_json(to_json(Value(number), 0), "f").root.number, number);
  }
}

TEST(ToJson, IsReadBackAsTheSameTree) {
  const std::string text = R"({"b":[1,-2.5,"\"\\\n\u0001é世",null,false,[],{}],"a":{"":1e-9}})";
  const auto document = parse_json(text, "f");
  const std::string written = to_json(document.root, 0);
  EXPECT_EQ(to_json(parse_json(written, "f").root, 0), written);
  EXPECT_EQ(to_json(parse_json(to_json(document.root, 4), "f").root, 0), written);
  EXPECT_EQ(document.at("b.2")->text, "\"\\\n\x01é世");
}

TEST(ToJson, ReplacesBytesThatAreNotUtf8) {
  EXPECT_EQ(to_json(Value("a\xFFz"), 0), "\"a\uFFFDz\"");
}

TEST(ToJson, RefusesNumbersThatAreNotFinite) {
  EXPECT_THROW(static_cast<void>(to_json(Value(std::nan("")))), Defect);
  const Value nested = Value::make_array().push(std::numeric_limits<double>::infinity());
  EXPECT_THROW(static_cast<void>(to_json(nested)), Defect);
}

TEST(LoadJson, NamesTheFileInPlaces) {
  const auto path = std::filesystem::path(::testing::TempDir()) / "titer_document_test.json";
  std::ofstream(path) << "{\n \"a\": 1}";
  const auto document = load_json(path);
  EXPECT_EQ(document.where(document.at("a")->origin), path.string() + ":2:7");
  std::filesystem::remove(path);
}

TEST(LoadJson, RefusesWhatItCannotRead) {
  const auto folder = std::filesystem::path(::testing::TempDir());
  const auto error_of = [](const std::filesystem::path& path) {
    try {
      static_cast<void>(load_json(path));
      return std::string();
    } catch (const InputError& error) {
      return error.lines.at(0);
    }
  };
  const auto missing = folder / "titer_no_such_file.json";
  EXPECT_EQ(error_of(missing), missing.string() + ": there is no such file");
  EXPECT_EQ(error_of(folder), folder.string() + ": is a folder; expected a JSON file");
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
