import { stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { Memo } from '@plinth/kernel';
import type { PluginCode } from '@plinth/tsdb-model/plugins/plugin-host.js';
import type { RunProgram } from './process/run-program.js';

const LIMIT_MS = 10_000;
/** Maximum size of source that fits into a program argument. */
const MAX_ARGUMENT_BYTES = 96 * 1024;
/** Maximum file size, as for fetched plugins. */
const MAX_FILE_BYTES = 1024 * 1024;
const MAX_KNOWN = 256;

/**
 * Compiles a file and searches for a name that it binds, without running it. A file with a wildcard
 * import may bind any name. Prints the problem, if there is one.
 */
const CHECK = `
import ast, base64, sys
path, function, source = sys.argv[1:]
text = base64.b64decode(source) if source else open(path, "rb").read()
name = path.rsplit("/", 1)[-1]
try:
    tree = ast.parse(text, name)
    compile(tree, name, "exec")
except (SyntaxError, ValueError) as error:
    line = getattr(error, "lineno", None)
    print(f"{name}{'' if line is None else f', line {line}'}: {getattr(error, 'msg', None) or error}")
    sys.exit()
for node in ast.walk(tree):
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name == function: sys.exit()
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id == function: sys.exit()
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        if any((each.asname or each.name) in (function, "*") for each in node.names): sys.exit()
print(f"{name} has no function {function}")
`;

/** Checks plugins before they run. Results are cached while the files do not change. */
export class PluginChecks {
  readonly #python: string;
  readonly #run: RunProgram;
  #last: Promise<unknown> = Promise.resolve();
  readonly #known = new Memo<string, string>({ maxCount: MAX_KNOWN });

  constructor(python: string, run: RunProgram) {
    this.#python = python;
    this.#run = run;
  }

  /**
   * @returns the problem in the file, with its line; `undefined` if there is none or the check is
   * impossible. Checks are serialized.
   */
  async faultOf(code: PluginCode, functionName: string): Promise<string | undefined> {
    const result = this.#last.then(() => this.#runCheck(code, functionName));
    this.#last = result.catch(() => undefined); // The caller receives the failure; the next check runs regardless.
    return await result;
  }

  async #runCheck(code: PluginCode, functionName: string): Promise<string | undefined> {
    const target = await targetOf(code);
    if (target === undefined || 'fault' in target) return target?.fault;
    const { path, source, version } = target;
    const key = `${functionName}\0${path}\0${version}`;
    let fault = version === undefined ? undefined : this.#known.get(key);
    if (fault === undefined) {
      const args = ['-I', '-c', CHECK, path, functionName, source];
      const { exitCode, stdout } = await this.#run(this.#python, args, LIMIT_MS);
      if (exitCode !== 0) return undefined;
      fault = stdout.trim();
      if (version !== undefined) this.#known.set(key, fault);
    }
    return fault === '' ? undefined : fault;
  }
}

interface Target {
  readonly path: string;
  /** Base64; empty if the file is read from `path`. */
  readonly source: string;
  /** Modification time and size of the file. */
  readonly version: string | undefined;
}

async function targetOf(
  code: PluginCode,
): Promise<Target | { readonly fault: string } | undefined> {
  if (code.kind === 'source') {
    const source = Buffer.from(code.source).toString('base64');
    const fits = source !== '' && source.length <= MAX_ARGUMENT_BYTES;
    return fits ? { path: 'plugin', source, version: undefined } : undefined;
  }
  const path = code.kind === 'dir' ? join(code.path, '__init__.py') : code.path;
  const found = await stat(path, { bigint: true });
  const { mtimeNs, size } = found;
  if (!found.isFile()) return { fault: `${basename(path)} is not a file` };
  if (size > MAX_FILE_BYTES) {
    return { fault: `${basename(path)} is larger than ${MAX_FILE_BYTES} bytes` };
  }
  return { path, source: '', version: `${mtimeNs} ${size}` };
}
