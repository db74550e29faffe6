//! Where in a file a change belongs, and what is left of the file.

use std::fs;

use expect_test::{Expect, expect};

use super::{CODE, patch};
use crate::testing::Folder;

/// What the patch says and leaves of `a.rs`.
fn on_a_file(content: &str, body: &str, expect: Expect) {
    let folder = Folder::new(&[("a.rs", content)]);
    folder.play("Read", r#"{"file_path":"a.rs"}"#);
    let call = patch(&format!("*** Update File: a.rs\n{body}"));
    let said = folder.play("apply_patch", call.split_once(' ').unwrap().1);
    let after = fs::read_to_string(folder.path("a.rs")).unwrap();
    let after = after.replace('\r', "<CR>").replace('\u{feff}', "<BOM>");
    let after = if said.starts_with("error") { String::new() } else { format!("\n{after}") };
    expect.assert_eq(&format!("{said}{after}"));
}

#[test]
fn several_updates_of_one_file_follow_each_other() {
    on_a_file(
        CODE,
        "-    call(1);\n+    call(8);\n*** Update File: a.rs\n-    call(8);\n+    call(9);\n",
        expect![[r#"
            Updated a.rs:
                 1  fn one() {
                 2 -    call(1);
                 2 +    call(8);
                 3  }
                 4  
                 5  fn two() {
               ...
                 1  fn one() {
                 2 -    call(8);
                 2 +    call(9);
                 3  }
                 4  
                 5  fn two() {
            fn one() {
                call(9);
            }

            fn two() {
                call(2);
            }
        "#]],
    );
}

#[test]
fn the_order_and_the_headers_tell_places_apart() {
    let twice = "mod a {\n    fn f() {\n        x();\n    }\n}\nmod b {\n    fn f() {\n        x();\n    }\n}\n";
    let change = "     fn f() {\n-        x();\n+        y();\n";
    on_a_file(
        twice,
        change,
        expect![[r#"
        error: the change at line 3 of the patch fits a.rs in several places (at lines 2, 7); give more lines around it, or `@@` and a line above it that tells them apart
        Nothing was changed."#]],
    );
    on_a_file(
        twice,
        &format!("@@ mod b\n{change}"),
        expect![[r#"
            Updated a.rs:
                 5  }
                 6  mod b {
                 7      fn f() {
                 8 -        x();
                 8 +        y();
                 9      }
                10  }
            mod a {
                fn f() {
                    x();
                }
            }
            mod b {
                fn f() {
                    y();
                }
            }
        "#]],
    );
    on_a_file(
        twice,
        &format!("@@ mod b {{\n@@ fn f() {{\n{change}"),
        expect![[r#"
            Updated a.rs:
                 5  }
                 6  mod b {
                 7      fn f() {
                 8 -        x();
                 8 +        y();
                 9      }
                10  }
            mod a {
                fn f() {
                    x();
                }
            }
            mod b {
                fn f() {
                    y();
                }
            }
        "#]],
    );
    on_a_file(
        twice,
        &format!("@@ -2,3 +2,3 @@ mod a {{\n{change}"),
        expect![[r#"
            Updated a.rs:
                 1  mod a {
                 2      fn f() {
                 3 -        x();
                 3 +        y();
                 4      }
                 5  }
                 6  mod b {
            mod a {
                fn f() {
                    y();
                }
            }
            mod b {
                fn f() {
                    x();
                }
            }
        "#]],
    );
    on_a_file(
        twice,
        &format!("@@ -7,3 +7,3 @@\n{change}"),
        expect![[r#"
        error: the change at line 3 of the patch fits a.rs in several places (at lines 2, 7); give more lines around it, or `@@` and a line above it that tells them apart
        Nothing was changed."#]],
    );
    on_a_file(
        twice,
        &format!("@@ mod c\n{change}"),
        expect![[r#"
        error: the change at line 3 of the patch fits a.rs in several places (at lines 2, 7); give more lines around it, or `@@` and a line above it that tells them apart
        Nothing was changed."#]],
    );
    on_a_file(
        twice,
        &format!("@@\n-mod b {{\n+mod c {{\n{change}"),
        expect![[r#"
            Updated a.rs:
                 3          x();
                 4      }
                 5  }
                 6 -mod b {
                 6 +mod c {
                 7      fn f() {
                 8 -        x();
                 8 +        y();
                 9      }
                10  }
            mod a {
                fn f() {
                    x();
                }
            }
            mod c {
                fn f() {
                    y();
                }
            }
        "#]],
    );
    on_a_file(
        twice,
        &format!("@@\n{change}@@\n{change}"),
        expect![[r#"
            Updated a.rs:
                 1  mod a {
                 2      fn f() {
                 3 -        x();
                 3 +        y();
                 4      }
                 5  }
                 6  mod b {
                 7      fn f() {
                 8 -        x();
                 8 +        y();
                 9      }
                10  }
            mod a {
                fn f() {
                    y();
                }
            }
            mod b {
                fn f() {
                    y();
                }
            }
        "#]],
    );
    on_a_file(
        twice,
        "         x();\n     }\n-}\n+}}\n*** End of File\n",
        expect![[r#"
            Updated a.rs:
                 7      fn f() {
                 8          x();
                 9      }
                10 -}
                10 +}}
            mod a {
                fn f() {
                    x();
                }
            }
            mod b {
                fn f() {
                    x();
                }
            }}
        "#]],
    );
}

#[test]
fn what_is_nearly_there_is_found_and_kept_as_it_is() {
    on_a_file(
        CODE,
        "@@\n fn two() {  \n-call(2);\n+call(3);\n+call(4);\n }\n",
        expect![[r#"
            error: the change at line 3 of the patch is not in a.rs as it is, only nearly, and the indentation differs from the file's in a way that leaves open how deep the new lines belong. The lines are:
                 5	fn two() {
                 6	    call(2);
                 7	}
            Nothing was changed."#]],
    );
    on_a_file(
        CODE,
        "@@\n fn one() {\n-\tcall(1);\n+\tcall(3);\n+\tif x {\n+\t\tcall(4);\n+\t}\n",
        expect![[r#"
            Updated a.rs (the indentation differed and was adapted to the file):
                 1  fn one() {
                 2 -    call(1);
                 2 +    call(3);
                 3 +    if x {
                 4 +        call(4);
                 5 +    }
                 6  }
                 7  
                 8  fn two() {
            fn one() {
                call(3);
                if x {
                    call(4);
                }
            }

            fn two() {
                call(2);
            }
        "#]],
    );
    on_a_file(
        "a = \"1\"\nb = '2'\n",
        "-a = \u{201c}1\u{201d}\n+a = \u{201c}one\u{201d}\n b = \u{2018}2\u{2019}\n",
        expect![[r#"
            Updated a.rs (white space or quotes differed; the file's were kept):
                 1 -a = "1"
                 1 +a = "one"
                 2  b = '2'
            a = "one"
            b = '2'
        "#]],
    );
    on_a_file(
        CODE,
        "     call(1);\n }\n fn two() {\n-    call(2);\n+    call(3);\n",
        expect![[r#"
            Updated a.rs (context lines differed; the file's were kept):
                 3  }
                 4  
                 5  fn two() {
                 6 -    call(2);
                 6 +    call(3);
                 7  }
            fn one() {
                call(1);
            }

            fn two() {
                call(3);
            }
        "#]],
    );
    on_a_file(
        CODE,
        " fn one() {\n     call(1);\n }\n+fn three() {}\n fn two() {\n     call(2);\n",
        expect![[r#"
            error: the change at line 3 of the patch is not in a.rs as it is, only nearly, and the lines there differ from the ones given right beside the change, so it is open where exactly it belongs. The lines are:
                 1	fn one() {
                 2	    call(1);
                 3	}
                 4	
                 5	fn two() {
                 6	    call(2);
            Nothing was changed."#]],
    );
    on_a_file(
        "let first = 1;\nlet second = 2;\nlet third = compute(3);\n",
        " let first = 1;\n let second = 22;\n-let third = compute(3);\n+let third = 3;\n",
        expect![[r#"
            Updated a.rs (context lines differed; the file's were kept):
                 1  let first = 1;
                 2  let second = 2;
                 3 -let third = compute(3);
                 3 +let third = 3;
            let first = 1;
            let second = 2;
            let third = 3;
        "#]],
    );
    on_a_file(
        "let first = 1;\nlet second = 2;\nlet third = compute(3);\n",
        " let first = 1;\n let second = 2;\n-let third = compute(4);\n+let third = 3;\n",
        expect![[r#"
            error: the change at line 3 of the patch is not in a.rs as it is, only nearly, and a line that is to be removed or replaced is not there as given. The lines are:
                 1	let first = 1;
                 2	let second = 2;
                 3	let third = compute(3);
            Nothing was changed."#]],
    );
}

#[test]
fn ends_of_files() {
    on_a_file(
        "a\nb",
        "@@\n a\n-b\n+c\n",
        expect![[r#"
            Updated a.rs:
                 1  a
                 2 -b
                 2 +c
            a
            c"#]],
    );
    on_a_file(
        "a\nb",
        "@@\n b\n+c\n",
        expect![[r#"
            Updated a.rs:
                 1  a
                 2 -b
                 2 +b
                 3 +c
            a
            b
            c"#]],
    );
    on_a_file(
        "a\nb",
        "@@\n a\n-b\n",
        expect![[r#"
            Updated a.rs:
                 1 -a
                 2 -b
                 1 +a
            a"#]],
    );
    on_a_file(
        "a\n",
        "@@\n+b\n*** End of File\n",
        expect![[r#"
            Updated a.rs:
                 1  a
                 2 +b
            a
            b
        "#]],
    );
    on_a_file(
        "a\n",
        "@@\n+b\n",
        expect![[r#"
        error: the change at line 3 of the patch gives no line that is in a.rs, so it is open where it belongs; give lines around it, or `*** End of File` to append
        Nothing was changed."#]],
    );
    on_a_file(
        "",
        "@@\n+b\n",
        expect![[r#"
            Updated a.rs:
                 1 +b
            b
        "#]],
    );
    on_a_file(
        "a\r\nb\r\n",
        "@@\n a\n+c\n",
        expect![[r#"
            Updated a.rs:
                 1  a
                 2 +c
                 3  b
            a<CR>
            c<CR>
            b<CR>
        "#]],
    );
    on_a_file(
        "\u{feff}a\nb\n",
        "@@\n+c\n a\n",
        expect![[r#"
            Updated a.rs:
                 1 -a
                 1 +c
                 2 +a
                 3  b
            <BOM>c
            a
            b
        "#]],
    );
}

#[test]
fn a_change_belongs_where_it_says_it_does() {
    let classes = "class A:\n    def f():\n        return 1\n\nclass B:\n    def f():\n        \
                   return 2 \n\nclass C:\n    def f():\n        return 3\n";
    on_a_file(
        classes,
        "@@ class B:\n-        return 1\n+        return 4\n",
        expect![[r#"
        error: the change at line 3 of the patch was not found in a.rs below `class B:`, only elsewhere (at line 3); give the lines as they are there, or say where else they are
        Nothing was changed."#]],
    );
    on_a_file(
        &classes.replace("return 1", "return 2"),
        "@@ class B:\n-        return 2\n+        return 4\n",
        expect![[r#"
            Updated a.rs (white space at the ends of lines differed):
                 4  
                 5  class B:
                 6      def f():
                 7 -        return 2 
                 7 +        return 4
                 8  
                 9  class C:
                10      def f():
            class A:
                def f():
                    return 2

            class B:
                def f():
                    return 4

            class C:
                def f():
                    return 3
        "#]],
    );
    // It may begin before its header's line, and end behind the block.
    on_a_file(
        classes,
        "@@ class B:\n \n class B:\n     def f():\n-        return 2\n+        return 4\n \n class C:\n",
        expect![[r#"
            Updated a.rs (white space at the ends of lines differed):
                 4  
                 5  class B:
                 6      def f():
                 7 -        return 2 
                 7 +        return 4
                 8  
                 9  class C:
                10      def f():
            class A:
                def f():
                    return 1

            class B:
                def f():
                    return 4

            class C:
                def f():
                    return 3
        "#]],
    );
    on_a_file(
        classes,
        "@@ class A:\n@@ class B:\n-        return 3\n+        return 4\n",
        expect![[r#"
            error: the change at line 3 of the patch was not found in a.rs below `class A:`, only elsewhere (at line 11); give the lines as they are there, or say where else they are
            Nothing was changed."#]],
    );
    // A line that holds nothing, and one that diff names, are before the place.
    on_a_file(
        "# One\na\n# Two\na\nb\n",
        "@@ # Two\n-a\n+c\n",
        expect![[r#"
        Updated a.rs:
             1  # One
             2  a
             3  # Two
             4 -a
             4 +c
             5  b
        # One
        a
        # Two
        c
        b
    "#]],
    );
    on_a_file(
        classes,
        "@@ -5,3 +5,3 @@ class B:\n-        return 3\n+        return 4\n",
        expect![[r#"
            Updated a.rs:
                 8  
                 9  class C:
                10      def f():
                11 -        return 3
                11 +        return 4
            class A:
                def f():
                    return 1

            class B:
                def f():
                    return 2 

            class C:
                def f():
                    return 4
        "#]],
    );
    on_a_file(
        classes,
        "@@ -5,3 +5,3 @@ class B:\n-        return 1\n+        return 4\n",
        expect![[r#"
            error: the change at line 3 of the patch was not found in a.rs below `class B:`, only elsewhere (at line 3); give the lines as they are there, or say where else they are
            Nothing was changed."#]],
    );
    on_a_file(
        "a\nb\na \n\n",
        "-a\n+c\n*** End of File\n",
        expect![[r#"
        Updated a.rs (white space at the ends of lines differed):
             1  a
             2  b
             3 -a 
             3 +c
             4  
        a
        b
        c

    "#]],
    );
    on_a_file(
        "a\nb\nc\n",
        "-a\n+c\n*** End of File\n",
        expect![[r#"
        error: the change at line 3 of the patch was not found in a.rs at its end, only elsewhere (at line 1); give the lines as they are there, or say where else they are
        Nothing was changed."#]],
    );
}
