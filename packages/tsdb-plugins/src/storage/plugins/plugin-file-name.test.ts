// Source: docs/SECURITY-DATA.md, "Plugins": hidden folders, compiled code, Windows device names,
// control characters.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { isPortable, refuseName } from './plugin-file-name.js';

const faultOf = (path: string): string => {
  try {
    refuseName(path);
    return '';
  } catch (error) {
    assert.equal(Reflect.get(Object(error), 'kind'), 'plugin_file_refused');
    return (error as Error).message;
  }
};

it('accepts names that every system accepts', () => {
  for (const path of [
    ...['a.py', 'a/b/__init__.py', './a.py', 'a/./b.py', 'a b.py', 'ä.py', 'a..b', 'console.py'],
    ...[
      'com.py',
      'com10.py',
      'nullable',
      'auxiliary.py',
      'pycache',
      'a.pyx',
      'a.py.txt',
      'x.con',
      '',
    ],
  ]) {
    assert.equal(faultOf(path), '', path);
  }
});

it('refuses other names in any part of the path, with the reason', () => {
  for (const [why, ...paths] of [
    ['begin with a dot', '.env', 'a/.git/config', 'a\\.ssh', '...', '.venv/x', '..'],
    [
      'of Windows devices',
      'CON',
      'con.py',
      'nul .txt',
      'a/com1.py',
      'LPT9',
      'com\u00b9.py',
      'conin$',
      'aux ',
    ],
    ['end with a dot or a space', 'a.', 'a ', 'a./b.py', 'a /b.py'],
    ['of compiled code', 'a.pyc', 'a.PYO', '__pycache__/x.py', '__PyCache__', 'a/__pycache__'],
    ['of compiled code', 'a/x.so', 'x.SO.1.2', 'x.pyd', 'x.dll', 'x.dylib'],
    ['of code that the interpreter runs at every start', 'a/x.PTH'],
    ['with control characters', 'a\n.py', 'a\x7fb', 'a\x80b', 'a\x9fb', 'a\0', 'a\ud800.py'],
  ] as const) {
    for (const path of paths) assert.match(faultOf(path), new RegExp(why), JSON.stringify(path));
  }
  assert.equal(faultOf('x/a.pyc'), 'x/a.pyc: names of compiled code are not allowed');
  assert.match(faultOf('x/a\n'), /^"x\/a\\n": names/);
});

it('accepts a file below ten folders and none deeper', () => {
  assert.equal(faultOf(`${'a/'.repeat(10)}x.py`), '');
  const deep = `${'a/'.repeat(11)}x.py`;
  assert.equal(faultOf(deep), 'the path has 11 folders; at most 10 are allowed');
});

it('recognizes names that can be listed', () => {
  for (const name of ['a', 'ä b', ' ', '~', '\u00a0']) assert.equal(isPortable(name), true, name);
  for (const name of ['\\', '\x1f', '\x7f', '\x9f']) assert.equal(isPortable(name), false);
});
