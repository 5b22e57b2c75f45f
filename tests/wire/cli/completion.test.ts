// Source: docs/COMMANDS.md: completion offers the words that the commands accept. Uses a real bash.
import assert from 'node:assert/strict';
import { chmod, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { CLI } from '../../harness/cli.js';
import {
  assertEmpty,
  runProgram,
  SharedServer,
  temporaryFolder,
  write,
} from '../../harness/index.js';

describe('completion', () => {
  let server: SharedServer;
  let folder = '';
  before(async () => {
    server = await SharedServer.get();
    assertEmpty(await write(server, { db: 'garden' }, 'herbs v=1'));
    assertEmpty(await write(server, { db: 'rooms_at_home' }, 'rooms v=1'));
    folder = await temporaryFolder();
    const program = join(folder, 'plinth');
    await writeFile(program, `#!/bin/sh\nexec '${process.execPath}' '${CLI}' "$@"\n`);
    await chmod(program, 0o755);
  });
  after(() => server.close());

  /** Completions of the last word. */
  const offered = async (...words: string[]): Promise<readonly string[]> => {
    const quoted = words.map((word) => `'${word}'`).join(' ');
    const script = `source <(plinth completion bash); COMP_WORDS=(plinth ${quoted}); COMP_CWORD=${words.length}
_plinth; printf '%s\\n' "\${COMPREPLY[@]}"`;
    const stdout = await runProgram('bash', ['--norc', '-c', script], {
      cwd: folder,
      env: {
        PATH: `${folder}${delimiter}${process.env['PATH']}`,
        PLINTH_HOST_URL: server.url,
        PLINTH_DATABASE_NAME: 'garden',
      },
    });
    return stdout.split('\n').filter(Boolean);
  };

  it('completes commands, subcommands and options', async () => {
    assert.deepEqual(await offered('dat'), ['database']);
    assert.deepEqual(await offered('token', 're'), ['regenerate']);
    assert.deepEqual(await offered('token', 'create', '--perm'), ['--permission']);
    assert.deepEqual(await offered('token', 'list', '--perm'), []);
    assert.deepEqual(await offered('completion', 'f'), ['fish']);
    assert.ok((await offered('serve', '--without')).includes('--without-auth'));
  });

  it('completes database and table names', async () => {
    assert.deepEqual(await offered('query', '--database', 'g'), ['garden']);
    assert.deepEqual(await offered('export', '--table', ''), ['herbs']);
  });
});
