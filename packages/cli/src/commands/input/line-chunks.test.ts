import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { chunkLines } from './line-chunks.js';

interface Cut {
  readonly text: string;
  readonly pointCount: number;
  readonly firstFileLine: number;
}

async function cutAll(input: string, chunkSizeBytes: number, partSize: number): Promise<Cut[]> {
  const bytes = Buffer.from(input);
  const parts = async function* () {
    for (let at = 0; at < bytes.length; at += partSize) yield bytes.subarray(at, at + partSize);
  };
  const found: Cut[] = [];
  for await (const chunk of chunkLines(parts(), { chunkSizeBytes, maxLineSizeBytes: 200 })) {
    found.push({
      text: Buffer.from(chunk.bytes).toString(),
      pointCount: chunk.pointCount,
      firstFileLine: chunk.fileLineOf(1),
    });
  }
  return found;
}

describe('chunkLines', () => {
  it('cuts only at line ends, for any input chunk size', async () => {
    const lines = [
      'm f=1 1\n',
      'm f=22 2\n',
      '# "comment\n',
      '\n',
      'm s="a\nb" 3\n',
      'm,t=a\\ b f=1',
    ];
    const input = lines.join('');
    const ends = lines.map((_, index) => lines.slice(0, index + 1).join('').length);
    for (const chunkSize of [1, 9, 20, 1000]) {
      for (const partSize of [1, 7, 1000]) {
        const cuts = await cutAll(input, chunkSize, partSize);
        let at = 0;
        for (const { text } of cuts) {
          const start = input.indexOf(text, at);
          // Chunks that contain only comments and blank lines are not sent.
          assert.match(input.slice(at, start), /^(# "comment\n|\n)*$/);
          at = start + text.length;
          assert.ok(ends.includes(at), `cut at ${at} with ${chunkSize}/${partSize}`);
        }
        assert.equal(at, input.length);
        assert.equal(
          cuts.reduce((sum, { pointCount }) => sum + pointCount, 0),
          4,
        );
      }
    }
  });

  it('counts file lines, including newlines inside strings', async () => {
    const cuts = await cutAll('m s="a\nb" 1\n\nm f=2\nm f=3\n', 1, 3);
    assert.deepEqual(
      cuts.map(({ text, firstFileLine }) => [text, firstFileLine]),
      [
        ['m s="a\nb" 1\n', 1],
        ['m f=2\n', 4],
        ['m f=3\n', 5],
      ],
    );
  });

  it('treats a quote in a tag value or a name as an ordinary character', async () => {
    const cuts = await cutAll('m,t="a f=1\nm"x f=2\nm "k=1\nm f=3\n', 1, 1000);
    assert.deepEqual(
      cuts.map(({ text }) => text),
      ['m,t="a f=1\n', 'm"x f=2\n', 'm "k=1\n', 'm f=3\n'],
    );
  });

  it('rejects an overlong line instead of buffering it', async () => {
    await assert.rejects(
      cutAll(`m s="${'x'.repeat(500)}`, 10, 50),
      /line 1 is longer than 200 bytes/,
    );
  });
});
