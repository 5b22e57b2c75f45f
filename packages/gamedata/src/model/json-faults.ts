import { pointerOf } from './json.js';

/** Half of a surrogate pair, which UTF-8 cannot say, and NUL, which ends texts in many a reader. */
const BROKEN = /[\0\p{Surrogate}]/u;

/** Of objects and arrays inside each other. Source: gamedata, section 6.4. */
export const MAX_DEPTH = 32;
/** Faults that are told; a hostile body may have a hundred thousand. */
const MAX_FAULTS = 100;

export interface JsonFault {
  readonly path: string;
  readonly code: 'invalid_text' | 'too_deep';
  readonly message: string;
}

/** Texts and names of members that cannot be served as they were sent, and what is nested too deep: at most a hundred, in their order. */
export function findJsonFaults(value: unknown): readonly JsonFault[] {
  const faults: JsonFault[] = [];
  collect(value, [], faults);
  return faults;
}

/** `path` is the caller's again afterwards: most values have no fault, and need no copy of it. */
function collect(value: unknown, path: string[], faults: JsonFault[]): void {
  if (typeof value === 'string') note(value, path, faults);
  else if (typeof value === 'object' && value !== null) {
    if (path.length >= MAX_DEPTH) {
      const message = `nested deeper than ${MAX_DEPTH}`;
      faults.push({ path: pointerOf(path), code: 'too_deep', message });
      return;
    }
    for (const name of Object.keys(value)) {
      if (faults.length >= MAX_FAULTS) return;
      // A path must not repeat such a name.
      if (note(name, path, faults)) continue;
      path.push(name);
      collect(Reflect.get(value, name), path, faults);
      path.pop();
    }
  }
}

function note(text: string, path: readonly string[], faults: JsonFault[]): boolean {
  if (!BROKEN.test(text)) return false;
  const what = text.includes('\0') ? 'the character NUL' : 'half of a character';
  faults.push({ path: pointerOf(path), code: 'invalid_text', message: `text with ${what}` });
  return true;
}
