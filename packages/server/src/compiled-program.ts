import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { Script } from 'node:vm';

/** Files of one folder: the program as one script, and what V8 made of it. */
const SCRIPT_FILE = 'program.cjs';
const CODE_FILE = 'program.code';
const HASH_SIZE_BYTES = 32;

/** The script is one function; `scripts/lib/bundle.mjs` writes it with these parameters. */
type Program = (
  require: NodeJS.Require,
  programUrl: string,
  resolvePackage: (name: string) => string,
  loadPackage: (name: string) => Promise<unknown>,
) => void;

/** The whole program as one script, as `scripts/lib/bundle.mjs` makes it. */
export class CompiledProgram {
  readonly #script: Script;
  readonly #file: URL;

  /**
   * The program with the code that V8 compiled earlier; `undefined` when there is none, when it is damaged, and when
   * another version of V8 made it. Compiling the whole script is slower than loading what is needed of it as modules.
   */
  static withCode(folder: URL): CompiledProgram | undefined {
    try {
      const file = readFileSync(new URL(CODE_FILE, folder));
      const code = file.subarray(HASH_SIZE_BYTES);
      if (!hashOf(code).equals(file.subarray(0, HASH_SIZE_BYTES))) return undefined;
      const program = new CompiledProgram(folder, code);
      return program.#script.cachedDataRejected === true ? undefined : program;
    } catch {
      return undefined; // Not made, or not whole.
    }
  }

  /** The program without compiled code, to make some. */
  static withoutCode(folder: URL): CompiledProgram {
    return new CompiledProgram(folder, undefined);
  }

  private constructor(folder: URL, code: Buffer | undefined) {
    this.#file = new URL(SCRIPT_FILE, folder);
    this.#script = new Script(readFileSync(this.#file, 'latin1'), {
      filename: fileURLToPath(this.#file),
      ...(code === undefined ? {} : { cachedData: code }),
    });
  }

  run(): void {
    const program = this.#script.runInThisContext() as Program; // As the bundler writes it.
    program(
      createRequire(this.#file),
      this.#file.href,
      (name) => import.meta.resolve(name),
      (name) => import(name),
    );
  }

  /** What V8 has compiled so far, functions that ran included, behind its SHA-256: the content of `program.code`. */
  code(): Buffer {
    const code = this.#script.createCachedData();
    return Buffer.concat([hashOf(code), code]);
  }
}

function hashOf(bytes: Uint8Array): Buffer {
  return createHash('sha256').update(bytes).digest();
}
