import { createRequire } from 'node:module';

/** Of the package that this is, as clients and `--version` are told. */
export function readVersion(): string {
  const file: unknown = createRequire(import.meta.url)('../package.json');
  return String(Reflect.get(Object(file), 'version'));
}
