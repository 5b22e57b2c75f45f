import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { it } from 'node:test';

const LAST_WORDS = new URL('./crash-handler.js', import.meta.url).href;

/** Pool work that an ordinary exit would wait for, and an unhandled rejection. */
const PROGRAM = `import('${LAST_WORDS}').then(({ endAtOnceOnBug }) => {
  endAtOnceOnBug();
  require('node:crypto').pbkdf2('x', 'y', 2 ** 31 - 1, 64, 'sha512', () => {});
  Promise.reject(new Error('nobody expected this'));
});`;

it('a bug ends the process at once with one log line', {
  timeout: 60_000,
}, async () => {
  const child = spawn(process.execPath, ['-e', PROGRAM], { stdio: ['ignore', 'inherit', 'pipe'] });
  const told = text(child.stderr);
  assert.deepEqual(await once(child, 'exit'), [null, 'SIGKILL']);
  const { level, msg, err } = JSON.parse(await told);
  assert.deepEqual(
    { level, msg, message: err.message },
    {
      level: 'fatal',
      msg: 'unexpected failure; the server exits',
      message: 'nobody expected this',
    },
  );
});
