// Source: docs/adr/0064-start-from-a-bundle.md
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { pathToFileURL } from 'node:url';
import { CompiledProgram } from './compiled-program.js';

const PROGRAM = `(function (require, programUrl, resolvePackage, loadPackage) {
  globalThis.seen = [require('node:path').sep, programUrl, typeof resolvePackage, loadPackage('node:os')];
})`;

describe('CompiledProgram', () => {
  let folder: string;
  let url: URL;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'plinth-compiled-'));
    url = pathToFileURL(`${folder}/`);
    writeFileSync(join(folder, 'program.cjs'), PROGRAM);
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const codeFile = (): string => join(folder, 'program.code');
  const writeCode = (): void => writeFileSync(codeFile(), CompiledProgram.withoutCode(url).code());

  it('runs the script with the code that was made of it', async () => {
    writeCode();
    const program = CompiledProgram.withCode(url);
    assert.ok(program);
    program.run();
    const [separator, programUrl, kind, os] = Reflect.get(globalThis, 'seen');
    assert.equal(separator, '/');
    assert.equal(programUrl, new URL('program.cjs', url).href);
    assert.equal(kind, 'function');
    assert.equal((await os).EOL, '\n');
  });

  it('takes missing, cut, changed and foreign code for none', () => {
    assert.equal(CompiledProgram.withCode(url), undefined);
    writeCode();
    const whole = readFileSync(codeFile());
    writeFileSync(codeFile(), whole.subarray(0, whole.length - 1));
    assert.equal(CompiledProgram.withCode(url), undefined);
    const changed = Buffer.from(whole);
    changed[changed.length - 1]! ^= 1;
    writeFileSync(codeFile(), changed);
    assert.equal(CompiledProgram.withCode(url), undefined);
    writeFileSync(codeFile(), whole);
    writeFileSync(join(folder, 'program.cjs'), `${PROGRAM} // Longer than what was compiled.`);
    assert.equal(CompiledProgram.withCode(url), undefined);
  });
});
