// Source: docs/adr/0064-bundled-program.md
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { pathToFileURL } from 'node:url';
import { freshBundle } from './fresh-bundle.js';

describe('freshBundle', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'plinth-bundle-'));
    writeFileSync(join(folder, 'compiled'), 'what the compiler noted');
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const stamp = (text: string): void => writeFileSync(join(folder, 'stamp.json'), text);
  const stampOf = (file: string): string => {
    const { size, mtimeMs } = statSync(join(folder, file));
    return JSON.stringify({ inputs: [[`./${file}`, size, mtimeMs]] });
  };
  const found = (): URL | undefined => freshBundle(pathToFileURL(`${folder}/`));

  it('returns the folder while the compiled files are unchanged', () => {
    stamp(stampOf('compiled'));
    assert.equal(found()?.href, pathToFileURL(`${folder}/`).href);
  });

  it('ignores a bundle that is older than the compiled files', () => {
    stamp(stampOf('compiled'));
    utimesSync(join(folder, 'compiled'), 1, 1);
    assert.equal(found(), undefined);
  });

  it('ignores a missing, truncated or foreign stamp', () => {
    assert.equal(found(), undefined);
    stamp('{"inputs":[["./comp');
    assert.equal(found(), undefined);
    stamp('{"inputs":[["./gone",1,1]]}');
    assert.equal(found(), undefined);
    stamp('{}');
    assert.equal(found(), undefined);
  });
});
