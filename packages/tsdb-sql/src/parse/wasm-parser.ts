import { readFile } from 'node:fs/promises';
import { messageOf } from '@plinth/kernel';
import { FUEL, withFuel } from './metered-module.js';
import { PlanningLimitExceeded } from './planning-limits.js';

/** A syntax error, with the parser's message. */
export class SyntaxFault extends Error {
  override readonly name = 'SyntaxFault';
}

/** The parser crashed, for example because its fixed-size stack overflowed, and was replaced. */
export class ParserBreakdown extends Error {
  override readonly name = 'ParserBreakdown';
}

interface Module {
  readonly brand: 'module';
}

/** The used part of Node's `WebAssembly`, which TypeScript declares only for browsers. */
interface Runtime {
  compile(bytes: Uint8Array): Promise<Module>;
  readonly Module: {
    imports(module: Module): readonly { readonly module: string; readonly name: string }[];
  };
  readonly Instance: new (
    module: Module,
    imports: Readonly<Record<string, Readonly<Record<string, ImportedFunction>>>>,
  ) => { readonly exports: unknown };
}
type ImportedFunction = (...args: number[]) => unknown;
const { WebAssembly: runtime } = globalThis as unknown as { readonly WebAssembly: Runtime };

interface ReferenceTable {
  get(index: number): unknown;
  set(index: number, value: unknown): void;
  /** Returns the previous length. */
  grow(count: number): number;
}

/** Exports of the compiled parser, with the calling convention of wasm-bindgen. */
interface ParserExports {
  readonly [FUEL]: { value: number };
  readonly memory: { readonly buffer: ArrayBuffer };
  readonly __wbindgen_externrefs: ReferenceTable;
  __wbindgen_start(): void;
  __wbindgen_malloc(sizeBytes: number, alignment: number): number;
  __wbindgen_free(address: number, sizeBytes: number, alignment: number): void;
  __externref_table_alloc(): number;
  __externref_table_dealloc(index: number): void;
  parse_sql_to_json_string(
    dialectAddress: number,
    dialectSizeBytes: number,
    textAddress: number,
    textSizeBytes: number,
  ): readonly [address: number, sizeBytes: number, faultIndex: number, isFault: number];
}

const DIALECT = 'generic';
/** Memory of an instance never shrinks; an instance above this size is replaced. */
const MAX_MEMORY_BYTES = 256 * 1024 * 1024;

/**
 * The SQL parser in WebAssembly. The package's own loader keeps one instance, which is unusable
 * after a stack overflow. This class replaces such an instance from the compiled module, to which
 * it adds a meter. The tree is returned as JSON, which takes an eighth of the time needed to build
 * objects from inside the module.
 */
export class WasmParser {
  readonly #module: Module;
  readonly #encoder = new TextEncoder();
  readonly #decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  #instance: ParserExports;

  private constructor(module: Module) {
    this.#module = module;
    this.#instance = this.#instantiate();
  }

  static async load(): Promise<WasmParser> {
    const main = import.meta.resolve('@guanmingchiu/sqlparser-ts');
    const file = new URL('../wasm/sqlparser_rs_wasm_bg.wasm', main);
    return new WasmParser(await runtime.compile(withFuel(await readFile(file))));
  }

  /**
   * Parses `text` and returns its statements as JSON, with absent parts `null`. Throws
   * `SyntaxFault`, `ParserBreakdown`, or `PlanningLimitExceeded` above `fuel` function calls. The limit is
   * needed because the parser backtracks: some statements take twice as long with each level of
   * parentheses.
   */
  parse(text: string, fuel: number): string {
    try {
      return this.#parse(text, fuel);
    } catch (error) {
      if (error instanceof SyntaxFault) throw error;
      const isSpent = this.#instance[FUEL].value === 0;
      this.#instance = this.#instantiate();
      if (isSpent) throw new PlanningLimitExceeded();
      throw new ParserBreakdown('the SQL parser crashed', { cause: error });
    } finally {
      if (this.#instance.memory.buffer.byteLength > MAX_MEMORY_BYTES) {
        this.#instance = this.#instantiate();
      }
    }
  }

  #parse(text: string, fuel: number): string {
    const wasm = this.#instance;
    wasm[FUEL].value = 0;
    const [dialectAddress, dialectSizeBytes] = this.#passText(DIALECT);
    const [textAddress, textSizeBytes] = this.#passText(text);
    wasm[FUEL].value = fuel;
    // The callee frees both strings.
    const [address, sizeBytes, faultIndex, isFault] = wasm.parse_sql_to_json_string(
      dialectAddress,
      dialectSizeBytes,
      textAddress,
      textSizeBytes,
    );
    wasm[FUEL].value = 0;
    if (isFault !== 0) {
      const fault: unknown = wasm.__wbindgen_externrefs.get(faultIndex);
      wasm.__externref_table_dealloc(faultIndex);
      throw new SyntaxFault(messageOf(fault));
    }
    const json = this.#textAt(address, sizeBytes);
    wasm.__wbindgen_free(address, sizeBytes, 1);
    return json;
  }

  #passText(text: string): readonly [address: number, sizeBytes: number] {
    const bytes = this.#encoder.encode(text);
    const address = this.#instance.__wbindgen_malloc(bytes.length, 1) >>> 0;
    new Uint8Array(this.#instance.memory.buffer, address, bytes.length).set(bytes);
    return [address, bytes.length];
  }

  #textAt(address: number, sizeBytes: number): string {
    return this.#decoder.decode(
      new Uint8Array(this.#instance.memory.buffer, address >>> 0, sizeBytes),
    );
  }

  #instantiate(): ParserExports {
    let wasm: ParserExports | undefined;
    const textAt = (address = 0, sizeBytes = 0): string =>
      wasm === undefined
        ? ''
        : this.#decoder.decode(new Uint8Array(wasm.memory.buffer, address >>> 0, sizeBytes));
    const provided: Readonly<Record<string, ImportedFunction>> = {
      __wbg_Error: (address, sizeBytes) => new Error(textAt(address, sizeBytes)),
      // Converts a string to a JavaScript value; errors are passed in this form.
      __wbindgen_cast_0000000000000003: textAt,
      __wbindgen_init_externref_table: () => {
        const table = wasm?.__wbindgen_externrefs;
        const offset = table?.grow(CONSTANTS.length) ?? 0;
        table?.set(0, undefined);
        for (const [index, value] of CONSTANTS.entries()) table?.set(offset + index, value);
      },
    };
    const imports: Record<string, Record<string, ImportedFunction>> = {};
    for (const { module, name } of runtime.Module.imports(this.#module)) {
      imports[module] ??= {};
      imports[module][name] = provided[name.replace(WBG_HASH, '$1')] ?? refuseCall;
    }
    const instance = new runtime.Instance(this.#module, imports);
    wasm = instance.exports as ParserExports; // The first use verifies this.
    wasm.__wbindgen_start();
    return wasm;
  }
}

/** Initial values of every reference table. */
const CONSTANTS: readonly unknown[] = [undefined, null, true, false];
/** Names of imported functions end in a hash that changes with the package version. */
const WBG_HASH = /^(__wbg_\w+)_[0-9a-f]{16}$/;

/** All other imports build trees object by object, which is not used here. */
function refuseCall(): never {
  throw new Error('the SQL parser called an import that is not provided');
}
