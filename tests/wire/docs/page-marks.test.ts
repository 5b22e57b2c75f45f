// Source: CONTRIBUTING.md, "Pages": the marks that the test of the pages accepts and rejects.
import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { temporaryFolder } from '../../harness/temporary-folder.js';
import { assertJsonPrinted, assertPrinted } from './assert-printed.js';
import { readPage } from './page.js';
import { PageRun } from './page-run.js';

let folder: string;
before(async () => {
  folder = await temporaryFolder();
});

/** Returns the result of each block on a page. */
async function outcomes(...lines: readonly string[]): Promise<readonly unknown[]> {
  const file = join(folder, 'page.md');
  await writeFile(file, `# Page\n\n${lines.join('\n')}\n`);
  const steps = readPage(file);
  const run = await PageRun.start(steps);
  try {
    const found: unknown[] = [];
    for (const step of steps) found.push(await run.take(step));
    return found;
  } finally {
    await run.close();
  }
}

const block = (language: string, text: string) => `\`\`\`${language}\n${text}\n\`\`\``;

const isAlive = (group: number): boolean => {
  try {
    return process.kill(-group, 0);
  } catch {
    return false;
  }
};

describe('a page', () => {
  it('runs in order, in one shell', async () => {
    const page = [block('sh', 'WORD=hello'), block('sh', 'echo $WORD'), block('', 'hello')];
    assert.deepEqual(await outcomes(...page), ['run', 'run', 'compared']);
  });

  it('fails where a command fails, in a pipe as well', async () => {
    await assert.rejects(outcomes(block('sh', 'no-such-command')), /no-such-command/);
    await assert.rejects(outcomes(block('sh', 'false | cat')), /the commands failed/);
  });

  it('leaves nothing running, also where it fails', async () => {
    const listen = [
      '<!-- test: background 9000 -->',
      block('sh', 'plinth webhook listen --port 9000'),
    ];
    const pid = join(folder, 'pid');
    const tell = block('sh', `jobs -p >${pid}; false`);
    await assert.rejects(outcomes(...listen, tell), /the commands failed/);
    const group = Number(await readFile(pid, 'utf8'));
    for (const endMs = Date.now() + 30_000; Date.now() < endMs; await sleep(50)) {
      if (!isAlive(group)) return;
    }
    assert.fail(`process ${group} goes on`);
  });

  it('fails where something else is printed, or nothing can print it', async () => {
    await assert.rejects(outcomes(block('sh', 'echo hello'), block('text', 'hullo')), /hullo/);
    await assert.rejects(outcomes(block('', 'hello')), /no block before this one prints/);
  });

  it('fails for a block that nothing runs, and takes one that says why not', async () => {
    await assert.rejects(outcomes(block('cobol', 'STOP RUN.')), /nothing runs "cobol"/);
    const skip = '<!-- test: skip no compiler -->';
    assert.deepEqual(await outcomes(skip, block('cobol', 'STOP RUN.')), ['marked']);
  });

  it('fails for a mark that nobody knows, and for a file that nothing uses', async () => {
    await assert.rejects(outcomes('<!-- test: skipped -->', block('sh', 'true')), /nobody knows/);
    const file = ['<!-- test: file a.json -->', block('json', '{}')];
    await assert.rejects(outcomes(...file), /nothing on the page uses a\.json/);
    assert.deepEqual(await outcomes(...file, block('sh', 'cat a.json'), block('', '{}')), [
      ...['used', 'run', 'compared'],
    ]);
  });
});

it('an ellipsis stands for anything but nothing, and for nothing beside itself', () => {
  assertPrinted('took 12 ms\n', 'took … ms');
  assertPrinted('a\nb\nc\nd\n', 'a\n…\nd');
  assert.throws(() => assertPrinted('took  ms', 'took … ms.'));
  assert.throws(() => assertPrinted('took 12 ms', 'took 1… s'));
  assertJsonPrinted('{"id":7,"of":[1,2]}', '{ "of": [1, 2], "id": "…" }');
  assert.throws(() => assertJsonPrinted('{"of":[1,2]}', '{ "of": [1, 2], "id": "…" }'));
  assert.throws(() => assertJsonPrinted('{"id":7,"of":[1,3]}', '{ "id": "…", "of": [1, 2] }'));
});
