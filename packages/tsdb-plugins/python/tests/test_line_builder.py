"""Source: processing-engine, "LineBuilder"."""

import unittest

from plinth_worker.line_builder import (
    InfluxDBError,
    InvalidKeyError,
    InvalidLineError,
    InvalidMeasurementError,
    LineBuilder,
)


class LineBuilderTest(unittest.TestCase):
    def test_renders_every_type(self):
        line = (
            LineBuilder("m")
            .tag("t", "v")
            .int64_field("i", -5)
            .uint64_field("u", 18446744073709551615)
            .float64_field("f", 2.0)
            .float64_field("g", 3.14)
            .string_field("s", 'quoted "x"')
            .bool_field("b", True)
            .bool_field("c", 0)
            .time_ns(7)
        )
        self.assertEqual(
            line.build(),
            'm,t=v i=-5i,u=18446744073709551615u,f=2.0,g=3.14,s="quoted \\"x\\"",b=t,c=f 7',
        )

    def test_escapes_tags_and_measurements(self):
        def tag(key, value):
            return LineBuilder("m").tag(key, value).int64_field("i", 1).build()

        self.assertEqual(tag("windows_path", "C:\\Program Files"), "m,windows_path=C:\\\\Program\\ Files i=1i")
        self.assertEqual(tag("details", "floor=5, room=3"), "m,details=floor\\=5\\,\\ room\\=3 i=1i")
        self.assertEqual(tag("n", 5), "m,n=5 i=1i")
        self.assertEqual(
            LineBuilder("complex,measurement").int64_field("i", 1).build(), "complex\\,measurement i=1i"
        )

    def test_keeps_the_place_of_a_key_that_is_set_again(self):
        line = LineBuilder("m").int64_field("a", 1).int64_field("b", 2).int64_field("a", 3)
        self.assertEqual(line.build(), "m a=3i,b=2i")

    def test_refuses_what_cannot_be_written(self):
        with self.assertRaisesRegex(InvalidMeasurementError, "^Measurement name cannot contain spaces$"):
            LineBuilder("a b")
        for key, text in (
            ("", "cannot be empty"),
            ("a b", "'a b' cannot contain spaces"),
            ("a,b", "'a,b' cannot contain commas"),
            ("a=b", "'a=b' cannot contain equals signs"),
        ):
            with self.assertRaisesRegex(InvalidKeyError, f"^tag key {text}$"):
                LineBuilder("m").tag(key, "v")
            with self.assertRaisesRegex(InvalidKeyError, f"^field key {text}$"):
                LineBuilder("m").bool_field(key, True)
        with self.assertRaisesRegex(InvalidLineError, "^At least one field is required: m,a=b$"):
            LineBuilder("m").tag("a", "b").build()
        with self.assertRaisesRegex(ValueError, "^uint64 field 'u' cannot be negative$"):
            LineBuilder("m").uint64_field("u", -1)
        for error in (InvalidMeasurementError, InvalidKeyError, InvalidLineError):
            self.assertTrue(issubclass(error, InfluxDBError))


if __name__ == "__main__":
    unittest.main()
