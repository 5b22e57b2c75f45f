import { isPlainText } from '@plinth/kernel';
import { tsdbError } from '@plinth/tsdb-model/errors.js';

/**
 * Windows device names, with any suffix after a dot or spaces. Files with these names do not exist
 * there.
 */
const DEVICE =
  /^(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[0-9\u00b9\u00b2\u00b3])[ ]*(?:\..*)?$/i;

/** Maximum number of folders above a file. */
const MAX_DEPTH = 10;

/**
 * Describes the kind of forbidden names that a path segment belongs to; `undefined` if it is
 * allowed.
 */
function faultOf(part: string): string | undefined {
  // Environments, version control and editors use hidden names, and run or trust their content.
  if (part.startsWith('.') && part !== '.') return 'that begin with a dot';
  if (!isPortable(part)) return 'with control characters or unpaired surrogates';
  if (DEVICE.test(part)) return 'of Windows devices';
  if (part.endsWith(' ') || (part.endsWith('.') && part !== '.'))
    return 'that end with a dot or a space';
  // The interpreter would run these instead of the visible source.
  if (/^__pycache__$/i.test(part) || /\.(?:py[cod]|so(?:\.\d+)*|dll|dylib)$/i.test(part)) {
    return 'of compiled code';
  }
  if (/\.pth$/i.test(part)) return 'of code that the interpreter runs at every start';
  return undefined;
}

/** Throws `plugin_file_refused` for a path that uploads must not use. */
export function refuseName(path: string): void {
  const parts = path.split(/[/\\]/);
  if (parts.length - 1 > MAX_DEPTH) {
    throw tsdbError(
      'plugin_file_refused',
      `the path has ${parts.length - 1} folders; at most ${MAX_DEPTH} are allowed`,
    );
  }
  for (const part of parts) {
    const fault = faultOf(part);
    if (fault === undefined) continue;
    const shown = isPortable(part) ? path : JSON.stringify(path);
    throw tsdbError('plugin_file_refused', `${shown}: names ${fault} are not allowed`);
  }
}

/** Returns whether other systems and lists accept the name. */
export const isPortable = (name: string): boolean => !name.includes('\\') && isPlainText(name);
