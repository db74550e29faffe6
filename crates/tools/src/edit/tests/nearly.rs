//! Texts that are nearly the file's: where they are found, and what is put there.

use expect_test::expect;

use crate::testing::check;

#[test]
fn a_line_that_was_replaced_is_as_likely_as_one_that_is_missing() {
    let one = "        negated: false,\n    })),\n})))\n);\n";
    let other = "        negated: false,\n})))\n);\n";
    let between: String = (0..30).map(|n| format!("between {n}\n")).collect();
    check(
        &[("a.rs", &format!("{one}{between}{other}"))],
        &[
            r#"Read {"file_path":"a.rs","limit":1}"#,
            r#"Edit {"file_path":"a.rs","old_string":"        negated: false,\n    })), // old\n})))\n);","new_string":"        negated: false,\n    })), // old\n}))\n);"}"#,
        ],
        expect![[r#"
            > Read {"file_path":"a.rs","limit":1}
                 1	        negated: false,
            (36 more of 37 lines; continue with offset 2)
            > Edit {"file_path":"a.rs","old_string":"        negated: false,\n    })), // old\n})))\n);","new_string":"        negated: false,\n    })), // old\n}))\n);"}
            error: old_string was not found in a.rs as it is, and nearly so in several places (at lines 35, 1); copy more of the text exactly
        "#]],
    );
}

#[test]
fn new_lines_that_begin_with_an_indentation_are_not_put_behind_one() {
    check(
        &[("a.py", "def f():\n    :param x: An x.\n\n    :return: A y.\n")],
        &[
            r#"Read {"file_path":"a.py"}"#,
            r#"Edit {"file_path":"a.py","old_string":":param x: An x.","new_string":"    x (int):\n        An x."}"#,
            r#"Edit {"file_path":"a.py","old_string":":return: A y.","new_string":" :return: A z."}"#,
            r#"Edit {"file_path":"a.py","old_string":"A z.","new_string":" A y."}"#,
        ],
        expect![[r#"
            > Read {"file_path":"a.py"}
                 1	def f():
                 2	    :param x: An x.
                 3	
                 4	    :return: A y.
            > Edit {"file_path":"a.py","old_string":":param x: An x.","new_string":"    x (int):\n        An x."}
            Edited a.py (the indentation differed and was adapted to the file):
                 1  def f():
                 2 -    :param x: An x.
                 2 +        x (int):
                 3 +            An x.
                 4  
                 5      :return: A y.
            > Edit {"file_path":"a.py","old_string":":return: A y.","new_string":" :return: A z."}
            Edited a.py (the indentation differed and was adapted to the file):
                 2          x (int):
                 3              An x.
                 4  
                 5 -    :return: A y.
                 5 +     :return: A z.
            > Edit {"file_path":"a.py","old_string":"A z.","new_string":" A y."}
            Edited a.py:
                 2          x (int):
                 3              An x.
                 4  
                 5 -     :return: A z.
                 5 +     :return:  A y.
            == a.py "def f():\n        x (int):\n            An x.\n\n     :return:  A y.\n"
        "#]],
    );
}

#[test]
fn a_sign_that_only_looks_like_a_quote_is_no_quote() {
    check(
        &[("a.rs", "const A: &str = &['x'];\nconst B: &str = &['y'];\n")],
        &[
            r#"Read {"file_path":"a.rs"}"#,
            "Edit {\"file_path\":\"a.rs\",\"old_string\":\"const A: &str = &[\u{2018}x\u{2019}];\",\"new_string\":\"const A: &str = &[\u{2018}\u{2bc}\u{2019}, \u{2018}x\u{2019}];\"}",
            "Edit {\"file_path\":\"a.rs\",\"old_string\":\"const B: &str = &[\u{2018}y\u{2018}];\",\"new_string\":\"const B: &str = &[\u{2018}z\u{2019}];\"}",
        ],
        expect![[r#"
            > Read {"file_path":"a.rs"}
                 1	const A: &str = &['x'];
                 2	const B: &str = &['y'];
            > Edit {"file_path":"a.rs","old_string":"const A: &str = &[‘x’];","new_string":"const A: &str = &[‘ʼ’, ‘x’];"}
            error: old_string is not in a.rs as it is, only nearly, and quotes or dashes differ from the file's in a way that leaves open which ones the new lines should have. The lines are:
                 1	const A: &str = &['x'];
            > Edit {"file_path":"a.rs","old_string":"const B: &str = &[‘y‘];","new_string":"const B: &str = &[‘z’];"}
            Edited a.rs (white space or quotes differed; the file's were kept):
                 1  const A: &str = &['x'];
                 2 -const B: &str = &['y'];
                 2 +const B: &str = &['z'];
            == a.rs "const A: &str = &['x'];\nconst B: &str = &['z'];\n"
        "#]],
    );
}

#[test]
fn lines_that_go_leave_no_indentation_behind() {
    check(
        &[
            (
                "a.go",
                "func f() {\n\t\ta = add(a, x)\n\t\tb = add(b, y)\n\n\t\tc = 1\n\t\td = 2\n\t\te()\n}\n",
            ),
            ("b.py", "if a:\r\n    one()\r\n    two()\r\n"),
        ],
        &[
            r#"Read {"file_path":"a.go"}"#,
            r#"Edit {"file_path":"a.go","old_string":"\tb = add(b, y)\n","new_string":""}"#,
            r#"Edit {"file_path":"a.go","old_string":"c = 1\n\t\td = 2\n","new_string":""}"#,
            r#"Edit {"file_path":"a.go","old_string":"a = add(a, x)\n","new_string":"a = x\nb = y\n"}"#,
            r#"Edit {"file_path":"a.go","old_string":"= add(a, x)\n\n\t\t","new_string":""}"#,
            r#"Read {"file_path":"b.py"}"#,
            r#"Edit {"file_path":"b.py","old_string":"one()\r\n","new_string":""}"#,
        ],
        expect![[r#"
            > Read {"file_path":"a.go"}
                 1	func f() {
                 2			a = add(a, x)
                 3			b = add(b, y)
                 4	
                 5			c = 1
                 6			d = 2
                 7			e()
                 8	}
            > Edit {"file_path":"a.go","old_string":"\tb = add(b, y)\n","new_string":""}
            Edited a.go (the indentation differed and was adapted to the file):
                 1  func f() {
                 2  		a = add(a, x)
                 3 -		b = add(b, y)
                 3  
                 4  		c = 1
                 5  		d = 2
            > Edit {"file_path":"a.go","old_string":"c = 1\n\t\td = 2\n","new_string":""}
            Edited a.go (the indentation differed and was adapted to the file):
                 1  func f() {
                 2  		a = add(a, x)
                 3  
                 4 -		c = 1
                 5 -		d = 2
                 4  		e()
                 5  }
            > Edit {"file_path":"a.go","old_string":"a = add(a, x)\n","new_string":"a = x\nb = y\n"}
            error: old_string starts in line 2 of a.go behind the start of its indentation, so it is open how deep the further lines of new_string belong; begin both with the whole indentation of that line
            > Edit {"file_path":"a.go","old_string":"= add(a, x)\n\n\t\t","new_string":""}
            Edited a.go:
                 1  func f() {
                 2 -		a = add(a, x)
                 3 -
                 4 -		e()
                 2 +		a e()
                 3  }
            > Read {"file_path":"b.py"}
                 1	if a:
                 2	    one()
                 3	    two()
            > Edit {"file_path":"b.py","old_string":"one()\r\n","new_string":""}
            Edited b.py (the indentation differed and was adapted to the file):
                 1  if a:
                 2 -    one()
                 2      two()
            == a.go "func f() {\n\t\ta e()\n}\n"
            == b.py "if a:\r\n    two()\r\n"
        "#]],
    );
}

#[test]
fn a_place_is_not_hidden_by_one_a_few_lines_further() {
    let one = "const provide = exports.provide = layer.provide;\n/**\n * Provides one.\n *\n */\n";
    let other =
        "const provided = exports.provided = effect.provided;\n/**\n * Provides one.\n */\n";
    check(
        &[("a.js", &format!("a();\nb();\nc();\nd();\n{one}{other}end();\n"))],
        &[
            r#"Read {"file_path":"a.js","limit":1}"#,
            r#"Edit {"file_path":"a.js","old_string":"const provide = exports.provide = layer.provide_old;\n/**\n * Provides one.\n","new_string":"const provide = exports.provide = layer.provide_old;\n/**\n * Provides two.\n"}"#,
        ],
        expect![[r#"
            > Read {"file_path":"a.js","limit":1}
                 1	a();
            (13 more of 14 lines; continue with offset 2)
            > Edit {"file_path":"a.js","old_string":"const provide = exports.provide = layer.provide_old;\n/**\n * Provides one.\n","new_string":"const provide = exports.provide = layer.provide_old;\n/**\n * Provides two.\n"}
            error: old_string was not found in a.js as it is, and nearly so in several places (at lines 5, 10); copy more of the text exactly
        "#]],
    );
}

#[test]
fn a_text_that_is_there_once_is_edited_there_and_nowhere_else() {
    check(
        &[
            ("a", "foo\nbar\n\n    bar\nend\n"),
            ("b", "foo\nbar\n"),
            ("c", "if a:\n    one()\n    two()\n\nif b:\n  one()\n  two()\n"),
        ],
        &[
            r#"Read {"file_path":"a","limit":1}"#,
            r#"Edit {"file_path":"a","old_string":"\nbar","new_string":"\nbaz"}"#,
            r#"Read {"file_path":"b","limit":1}"#,
            r#"Edit {"file_path":"b","old_string":"\nbar\n","new_string":"\nbaz\n"}"#,
            r#"Read {"file_path":"c","limit":1}"#,
            r#"Edit {"file_path":"c","old_string":"    one()\n    two()","new_string":"    1()\n    2()"}"#,
            r#"Edit {"file_path":"c","old_string":" one()","new_string":"   1()"}"#,
        ],
        expect![[r#"
            > Read {"file_path":"a","limit":1}
                 1	foo
            (4 more of 5 lines; continue with offset 2)
            > Edit {"file_path":"a","old_string":"\nbar","new_string":"\nbaz"}
            Edited a:
                 1  foo
                 2 -bar
                 2 +baz
                 3  
                 4      bar
                 5  end
            > Read {"file_path":"b","limit":1}
                 1	foo
            (1 more of 2 lines; continue with offset 2)
            > Edit {"file_path":"b","old_string":"\nbar\n","new_string":"\nbaz\n"}
            Edited b:
                 1  foo
                 2 -bar
                 2 +baz
            > Read {"file_path":"c","limit":1}
                 1	if a:
            (6 more of 7 lines; continue with offset 2)
            > Edit {"file_path":"c","old_string":"    one()\n    two()","new_string":"    1()\n    2()"}
            Edited c:
                 1  if a:
                 2 -    one()
                 3 -    two()
                 2 +    1()
                 3 +    2()
                 4  
                 5  if b:
                 6    one()
            > Edit {"file_path":"c","old_string":" one()","new_string":"   1()"}
            error: old_string begins within line 6 of c, and as whole lines the indentation differs from the file's in a way that leaves open how deep the new lines belong. The lines are:
                 6	  one()
            == a "foo\nbaz\n\n    bar\nend\n"
            == b "foo\nbaz\n"
            == c "if a:\n    1()\n    2()\n\nif b:\n  one()\n  two()\n"
        "#]],
    );
}

#[test]
fn the_numbers_of_read_are_never_written() {
    let code = "def foo():\n    x = 1\n\n    return x\n";
    check(
        &[("a.py", code), ("b.py", code), ("c.py", code), ("d.txt", "1\tone\n2\ttwo\n")],
        &[
            r#"Read {"file_path":"a.py"}"#,
            r#"Edit {"file_path":"a.py","old_string":"     1\tdef foo():\n     2\t    x = 1\n     3\t\n     4\t    return x","new_string":"     1\tdef foo():\n     2\t    x = 2\n\n     4\t    return x"}"#,
            r#"Read {"file_path":"b.py","limit":1}"#,
            r#"Edit {"file_path":"b.py","old_string":"     2\t    x = 1\n     3\n     4\t    return x\n","new_string":"     2\t    x = 1\n     3\n     4\t    return x\n\nfoo()\n"}"#,
            r#"Read {"file_path":"c.py","limit":1}"#,
            r#"MultiEdit {"file_path":"c.py","edits":[{"old_string":"     2\t    x = 1\n\n     4\t    return x","new_string":"     2\t    x = 3\n    return x"}]}"#,
            r#"Read {"file_path":"d.txt"}"#,
            r#"Edit {"file_path":"d.txt","old_string":"2\ttwo","new_string":"2\tTwo\n3\tthree"}"#,
        ],
        expect![[r#"
            > Read {"file_path":"a.py"}
                 1	def foo():
                 2	    x = 1
                 3	
                 4	    return x
            > Edit {"file_path":"a.py","old_string":"     1\tdef foo():\n     2\t    x = 1\n     3\t\n     4\t    return x","new_string":"     1\tdef foo():\n     2\t    x = 2\n\n     4\t    return x"}
            Edited a.py (line numbers were left out):
                 1  def foo():
                 2 -    x = 1
                 2 +    x = 2
                 3  
                 4      return x
            > Read {"file_path":"b.py","limit":1}
                 1	def foo():
            (3 more of 4 lines; continue with offset 2)
            > Edit {"file_path":"b.py","old_string":"     2\t    x = 1\n     3\n     4\t    return x\n","new_string":"     2\t    x = 1\n     3\n     4\t    return x\n\nfoo()\n"}
            Edited b.py (line numbers were left out):
                 2      x = 1
                 3  
                 4      return x
                 5 +
                 6 +foo()
            > Read {"file_path":"c.py","limit":1}
                 1	def foo():
            (3 more of 4 lines; continue with offset 2)
            > MultiEdit {"file_path":"c.py","edits":[{"old_string":"     2\t    x = 1\n\n     4\t    return x","new_string":"     2\t    x = 3\n    return x"}]}
            Edited c.py, 1 edits:
            (line numbers were left out)
                 1  def foo():
                 2 -    x = 1
                 3 -
                 2 +    x = 3
                 3      return x
            > Read {"file_path":"d.txt"}
                 1	1	one
                 2	2	two
            > Edit {"file_path":"d.txt","old_string":"2\ttwo","new_string":"2\tTwo\n3\tthree"}
            Edited d.txt:
                 1  1	one
                 2 -2	two
                 2 +2	Two
                 3 +3	three
            == a.py "def foo():\n    x = 2\n\n    return x\n"
            == b.py "def foo():\n    x = 1\n\n    return x\n\nfoo()\n"
            == c.py "def foo():\n    x = 3\n    return x\n"
            == d.txt "1\tone\n2\tTwo\n3\tthree\n"
        "#]],
    );
}
