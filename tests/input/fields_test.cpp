#include "titer/input/fields.hpp"

#include <gtest/gtest.h>

#include "titer/input/read_document.hpp"

namespace titer::testing {
namespace TITER_TEST_FILE {

enum class Colour { red, blue };
constexpr std::array<Choice<Colour>, 3> kColours = {
    {{"red", Colour::red}, {"blue", Colour::blue}, {"azure", Colour::blue}}};

struct Lamp {
  std::int64_t bulbs = 1;
  bool lit = false;
  friend bool operator==(const Lamp&, const Lamp&) = default;
};
constexpr std::array kLampFields = {
    fields::integer<&Lamp::bulbs>("bulbs", {1, 12}, "how many").needed(),
    fields::flag<&Lamp::lit>("lit", "whether it shines")};
std::span<const Field<Lamp>> lamp_fields() { return kLampFields; }

struct Room {
  std::int64_t doors = 2;
  std::optional<int> windows{};
  double height = 2.5;
  Colour walls = Colour::blue;
  std::optional<Seconds> warms_in{};
  Lamp lamp{};
  std::vector<std::string> names{};
};
constexpr unsigned kHeat = 1;
constexpr unsigned kLight = 2;
constexpr std::array kRoomFields = {
    fields::integer<&Room::doors>("doors", {1, 9}, "ways in").affecting(kHeat),
    fields::integer<&Room::windows>("windows", {}, "ways to look out").or_else("as many as doors"),
    fields::number<&Room::height>("height", {1, 10}, "in metres").affecting(0),
    fields::choice<&Room::walls, kColours>("walls", "their colour").affecting(kLight),
    fields::quantity<&Room::warms_in>("warms_in", "how fast"),
    fields::object<&Room::lamp, lamp_fields>("lamp", "what shines").affecting(kLight),
    fields::special<Room, &Room::names>(
        "names",
        {[](const Field<Room>& own, Reader& in, Room& room) { room.names = in.texts(own.key); },
         [](const Field<Room>& /*own*/) { return schema::list_of(schema::text()); },
         nullptr},
        "what it is called")};

Room read_room(Reader& in) {
  Room room;
  read_fields<Room>(kRoomFields, in, room);
  return room;
}

Room room_of(std::string_view text) { return read_document(parse_json(text, "room"), read_room); }

std::vector<std::string> wrong(std::string_view text) {
  try {
    static_cast<void>(room_of(text));
  } catch (const InputError& error) {
    return error.lines;
  }
  return {};
}

TEST(Fields, AreReadIntoTheirMembers) {
  const Room room = room_of(R"({"doors": 3, "windows": 0, "height": 4, "walls": "azure",
    "warms_in": "2 ms", "lamp": {"bulbs": 7, "lit": true}, "names": ["hall"]})");
  EXPECT_EQ(room.doors, 3);
  EXPECT_EQ(room.windows, 0);
  EXPECT_EQ(room.height, 4.0);
  EXPECT_EQ(room.walls, Colour::blue);
  EXPECT_EQ(room.warms_in, Seconds::from_si(2e-3));
  EXPECT_EQ(room.lamp, (Lamp{.bulbs = 7, .lit = true}));
  EXPECT_EQ(room.names, std::vector<std::string>{"hall"});
}

TEST(Fields, LeftOutStayAsInANewObject) {
  const Room room = room_of(R"({"doors": null, "notes": "none"})");
  EXPECT_EQ(room.doors, 2);
  EXPECT_FALSE(room.windows.has_value());
  EXPECT_EQ(room.height, 2.5);
  EXPECT_EQ(room.lamp, Lamp());
}

TEST(Fields, ThatAreWrongGetALineEachWithTheirPlace) {
  EXPECT_EQ(wrong(R"({"doors": 10, "dors": 1, "walls": "bleu", "lamp": {"lit": 1}})"),
            (std::vector<std::string>{
                "room:1:11: doors: 10: expected an integer from 1 to 9",
                "room:1:35: walls: \"bleu\": expected one of: red, blue, azure; did you mean "
                "\"blue\"?",
                "room:1:51: lamp.bulbs: missing; expected an integer from 1 to 12",
                "room:1:59: lamp.lit: 1: expected true or false",
                "room:1:15: dors: unknown key; did you mean \"doors\"?"}));
  EXPECT_EQ(wrong(R"({"floor": 1})").front(),
            "room:1:2: floor: unknown key; known keys: doors, windows, height, walls, warms_in, "
            "lamp, names");
}

TEST(Fields, AreWrittenAsAFileHasThem) {
  Room room{.windows = 4, .lamp = {.bulbs = 1, .lit = true}};
  const auto written = [&](std::string_view key) {
    return to_json(find_field<Room>(kRoomFields, key)->write(room), 0);
  };
  EXPECT_EQ(written("doors"), "2");
  EXPECT_EQ(written("windows"), "4");
  EXPECT_EQ(written("height"), "2.5");
  EXPECT_EQ(written("walls"), R"("blue")");  // the first of its names
  EXPECT_EQ(written("warms_in"), "null");
  EXPECT_EQ(written("lamp"), R"({"bulbs":1,"lit":true})");
  room.lamp.lit = false;
  EXPECT_EQ(written("lamp"), R"({"bulbs":1})");  // as usual, but for what must be said
  room.warms_in = Seconds::from_si(1.25e-7);
  EXPECT_EQ(written("warms_in"), R"("1.25e-07 s")");
}

TEST(Fields, SayWhichOfThemMakeADifference) {
  const auto differ = [](const Room& a, const Room& b) {
    return (same_where<kRoomFields, kHeat>(a, b) ? 0U : kHeat) +
           (same_where<kRoomFields, kLight>(a, b) ? 0U : kLight);
  };
  EXPECT_EQ(differ({}, {}), 0U);
  EXPECT_EQ(differ({.doors = 1}, {}), kHeat);
  EXPECT_EQ(differ({.walls = Colour::red}, {}), kLight);
  EXPECT_EQ(differ({.lamp = {.lit = true}}, {}), kLight);
  EXPECT_EQ(differ({.height = 3}, {}), 0U);
  EXPECT_EQ(differ({.windows = 1}, {}), kHeat + kLight) << "until it is said what it does not";
}

TEST(Fields, AreTakenOverAndSetOneByOne) {
  Room room;
  find_field<Room>(kRoomFields, "lamp")->copy({.doors = 5, .lamp = {.bulbs = 3}}, room);
  EXPECT_EQ(room.lamp.bulbs, 3);
  EXPECT_EQ(room.doors, 2);
  find_field<Room>(kRoomFields, "windows")->set(6, room);
  EXPECT_EQ(room.windows, 6);
  EXPECT_EQ(find_field<Room>(kRoomFields, "walls")->set, nullptr);
  EXPECT_EQ(find_field<Room>(kRoomFields, "wall"), nullptr);
}

TEST(Fields, HaveASchema) {
  const Value schema = schema_of<Room>(kRoomFields);
  EXPECT_EQ(to_json(*schema.at("properties.walls"), 0),
            R"({"enum":["red","blue","azure",null],"description":"their colour",)"
            R"("default":"blue"})");
  EXPECT_EQ(to_json(*schema.at("properties.doors.type"), 0), R"(["integer","object","null"])");
  EXPECT_EQ(schema.at("properties.doors.maximum")->integer, 9);
  EXPECT_EQ(schema.at("properties.windows.maximum"), nullptr);
  EXPECT_EQ(to_json(*schema.at("properties.lamp.required"), 0), R"(["bulbs"])");
  EXPECT_FALSE(schema.at("additionalProperties")->boolean);
  EXPECT_EQ(schema::at(schema, "lamp.bulbs")->find("minimum")->integer, 1);
  EXPECT_EQ(schema::at(schema, "lamp.bulb"), nullptr);
}

TEST(Fields, StandInTheReferenceInWords) {
  std::string text;
  for (const schema::Row& row : schema::rows(schema_of<Room>(kRoomFields), "room")) {
    text += row.path + " | " + row.about + " | " + row.value + " | " + row.otherwise + "\n";
  }
  EXPECT_EQ(text,
            "room.doors | ways in | an integer from 1 to 9 | `2`\n"
            "room.windows | ways to look out | an integer from 0 | as many as doors\n"
            "room.height | in metres | a number from 1 to 10 | `2.5`\n"
            "room.walls | their colour | `red`, `blue` or `azure` | `blue`\n"
            "room.warms_in | how fast | such as `12.5 us` | none\n"
            "room.lamp | what shines | an object | `{\"bulbs\":1}`\n"
            "room.lamp.bulbs | how many | an integer from 1 to 12 | required\n"
            "room.lamp.lit | whether it shines | `true` or `false` | `false`\n"
            "room.names | what it is called | a list of: a text | none\n");
}

}  // namespace TITER_TEST_FILE
}  // namespace titer::testing
