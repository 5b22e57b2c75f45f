import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { it } from 'node:test';
import { fileURLToPath } from 'node:url';

const FOLDER = fileURLToPath(new URL('../../../python', import.meta.url));
const isPythonHere = spawnSync('python3', ['--version']).status === 0;

it("passes the Python worker's own tests", {
  skip: isPythonHere ? false : 'python3 is not installed',
}, () => {
  const args = ['-B', '-m', 'unittest', 'discover', '-s', 'tests', '-t', '.'];
  const run = spawnSync('python3', args, { cwd: FOLDER, encoding: 'utf8', timeout: 60_000 });
  assert.equal(run.status, 0, run.stderr);
  assert.match(run.stderr, /^Ran [1-9]\d* tests/m);
});
