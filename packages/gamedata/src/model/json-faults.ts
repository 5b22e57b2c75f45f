import { pointerOf } from './json.js';

/** A lone surrogate, which UTF-8 cannot represent, or NUL, which ends strings in many parsers. */
const BROKEN = /[\0\p{Surrogate}]/u;

/** Maximum nesting of objects and arrays. Source: gamedata, section 6.4. */
export const MAX_DEPTH = 32;
/** Maximum number of reported faults; a hostile body may contain 100,000. */
const MAX_FAULTS = 100;

export interface JsonFault {
  readonly path: string;
  readonly code: 'invalid_text' | 'too_deep';
  readonly message: string;
}

/**
 * Returns strings and member names that cannot be served, and excessive nesting: at most 100
 * faults, in order.
 */
export function findJsonFaults(value: unknown): readonly JsonFault[] {
  const faults: JsonFault[] = [];
  collect(value, [], faults);
  return faults;
}

/** Restores `path` before it returns, which avoids copies for values without faults. */
function collect(value: unknown, path: string[], faults: JsonFault[]): void {
  if (typeof value === 'string') note(value, path, faults);
  else if (typeof value === 'object' && value !== null) {
    if (path.length >= MAX_DEPTH) {
      const message = `nested more than ${MAX_DEPTH} levels deep`;
      faults.push({ path: pointerOf(path), code: 'too_deep', message });
      return;
    }
    for (const name of Object.keys(value)) {
      if (faults.length >= MAX_FAULTS) return;
      // An invalid name must not appear in the path.
      if (note(name, path, faults)) continue;
      path.push(name);
      collect(Reflect.get(value, name), path, faults);
      path.pop();
    }
  }
}

function note(text: string, path: readonly string[], faults: JsonFault[]): boolean {
  if (!BROKEN.test(text)) return false;
  const what = text.includes('\0') ? 'a NUL character' : 'an unpaired surrogate';
  faults.push({ path: pointerOf(path), code: 'invalid_text', message: `text contains ${what}` });
  return true;
}
