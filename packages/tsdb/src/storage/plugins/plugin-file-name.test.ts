import assert from 'node:assert/strict';
import { it } from 'node:test';
import { refuseName } from './plugin-file-name.js';

it('refuses what is hidden, compiled, a device, or no plain text, in any part of a path', () => {
  const check = (path: string, which: string) =>
    assert.throws(() => refuseName(path), {
      kind: 'plugin_file_refused',
      message: new RegExp(`: names ${which} are not taken$`),
    });
  check('a/.git/x.py', 'that begin with a dot');
  check('__pycache__/x.py', 'of compiled code');
  check('a\\__PYCACHE__\\x.py', 'of compiled code');
  check('a/x.PYC', 'of compiled code');
  check('x.pyo', 'of compiled code');
  for (const name of ['a/x.so', 'x.SO.1.2', 'x.pyd', 'x.dll', 'x.dylib'])
    check(name, 'of compiled code');
  check('a/x.PTH', 'of code that every start of the interpreter runs');
  for (const name of ['con.py\n', 'a\u009b.py', 'a\ud800.py']) {
    check(name, 'with control characters or halves of characters');
  }
  for (const name of ['con.py', 'a/NUL', 'com1.tar.py', 'Aux .py', 'lpt\u00b9', 'conin$']) {
    check(name, 'of devices of Windows');
  }
  check('x.py.', 'that end with a dot or a space');
  check('a /x.py', 'that end with a dot or a space');
});

it('takes names of people', () => {
  for (const path of [
    'x.py',
    'a/b/__init__.py',
    './x.py',
    'console.py',
    'com10.py',
    'pyc.py',
    'ä.py',
    '',
  ]) {
    refuseName(path);
  }
});

it('takes a file below ten folders and none deeper', () => {
  refuseName(`${'a/'.repeat(10)}x.py`);
  assert.throws(() => refuseName(`${'a/'.repeat(11)}x.py`), {
    kind: 'plugin_file_refused',
    message: 'a file lies below at most 10 folders, not 11',
  });
});
