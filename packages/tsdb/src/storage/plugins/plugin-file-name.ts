import { tsdbError } from '../../errors.js';

/** Devices of Windows, whatever comes behind a dot or spaces: a file of such a name is none there. */
const DEVICE =
  /^(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[0-9\u00b9\u00b2\u00b3])[ ]*(?:\..*)?$/i;

/** Which names are no names for files of plugins, if a part of a path is one of them. */
function faultOf(part: string): string | undefined {
  // Of environments, of version control, of editors: what is in them is run or believed by others than plugins.
  if (part.startsWith('.') && part !== '.') return 'that begin with a dot';
  if (!isPortable(part)) return 'with control characters';
  if (DEVICE.test(part)) return 'of devices of Windows';
  if (part.endsWith(' ') || (part.endsWith('.') && part !== '.'))
    return 'that end with a dot or a space';
  // The interpreter runs what stands there instead of the source that people read.
  if (/^__pycache__$/i.test(part) || /\.py[co]$/i.test(part)) {
    return 'of compiled code';
  }
  return undefined;
}

/** Throws `plugin_file_refused` for a path that an upload may not write to. */
export function refuseName(path: string): void {
  for (const part of path.split(/[/\\]/)) {
    const fault = faultOf(part);
    if (fault === undefined) continue;
    const shown = isPortable(part) ? path : JSON.stringify(path);
    throw tsdbError('plugin_file_refused', `${shown}: names ${fault} are not taken`);
  }
}

/** Whether other systems and lists of names take it. */
export function isPortable(name: string): boolean {
  for (const char of name) {
    if (char === '\\' || char < ' ' || (char >= '\x7f' && char <= '\x9f')) return false;
  }
  return true;
}
