import { isPlainText } from '@plinth/kernel';
import { tsdbError } from '../../errors.js';

/** Devices of Windows, whatever comes behind a dot or spaces: a file of such a name is none there. */
const DEVICE =
  /^(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[0-9\u00b9\u00b2\u00b3])[ ]*(?:\..*)?$/i;

/** Folders around a file. */
const MAX_DEPTH = 10;

/** Which names are no names for files of plugins, if a part of a path is one of them. */
function faultOf(part: string): string | undefined {
  // Of environments, of version control, of editors: what is in them is run or believed by others than plugins.
  if (part.startsWith('.') && part !== '.') return 'that begin with a dot';
  if (!isPortable(part)) return 'with control characters or halves of characters';
  if (DEVICE.test(part)) return 'of devices of Windows';
  if (part.endsWith(' ') || (part.endsWith('.') && part !== '.'))
    return 'that end with a dot or a space';
  // The interpreter runs what stands there instead of the source that people read.
  if (/^__pycache__$/i.test(part) || /\.(?:py[cod]|so(?:\.\d+)*|dll|dylib)$/i.test(part)) {
    return 'of compiled code';
  }
  if (/\.pth$/i.test(part)) return 'of code that every start of the interpreter runs';
  return undefined;
}

/** Throws `plugin_file_refused` for a path that an upload may not write to. */
export function refuseName(path: string): void {
  const parts = path.split(/[/\\]/);
  if (parts.length - 1 > MAX_DEPTH) {
    throw tsdbError(
      'plugin_file_refused',
      `a file lies below at most ${MAX_DEPTH} folders, not ${parts.length - 1}`,
    );
  }
  for (const part of parts) {
    const fault = faultOf(part);
    if (fault === undefined) continue;
    const shown = isPortable(part) ? path : JSON.stringify(path);
    throw tsdbError('plugin_file_refused', `${shown}: names ${fault} are not taken`);
  }
}

/** Whether other systems and lists of names take it. */
export const isPortable = (name: string): boolean => !name.includes('\\') && isPlainText(name);
