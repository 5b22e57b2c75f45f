// Source: README.md of this repository: its commands print what it says.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { ServerProcess } from '../../harness/index.js';

const README = fileURLToPath(new URL('../../../../README.md', import.meta.url));
const hasCurl = spawnSync('curl', ['--version']).status === 0;

/** The fenced blocks of a section: commands (`sh`) and what stands below them as their output. */
function blocksOf(
  section: string,
): readonly { readonly language: string; readonly text: string }[] {
  const text = readFileSync(README, 'utf8').split(`\n## ${section}\n`)[1]?.split('\n## ')[0] ?? '';
  return [...text.matchAll(/^```(\w*)\n(.*?)^```$/gms)].map(([, language = '', body = '']) => ({
    language,
    text: body,
  }));
}

it('README: token, write and query print what it shows', {
  skip: hasCurl ? false : 'curl is not installed',
}, async () => {
  const blocks = blocksOf('Write and query');
  const curls = blocks.filter(({ text }) => text.includes('curl '));
  const outputs = blocks.filter(({ language }) => language === '');
  assert.equal(curls.length, 3, 'token, write, query');
  assert.equal(outputs.length, 2, 'output of write and query');
  await using server = await ServerProcess.start({ flags: [] });
  const script = curls.map(({ text }) => text.replaceAll('http://127.0.0.1:8181', server.url));
  const { stdout, stderr, status } = spawnSync('bash', ['-euc', script.join('')], {
    encoding: 'utf8',
    timeout: 30_000,
  });
  assert.equal(status, 0, stderr);
  // The table comes without a newline at its end.
  assert.equal(`${stdout}\n`, outputs.map(({ text }) => text).join(''));
});
