import { once, referenceTable } from './read-reference.js';

const table = referenceTable<{ readonly de: readonly string[] }>('register-courts');

const names = once(() => {
  const folded = new Set<string>();
  for (const court of table().de) {
    folded.add(foldCourt(court));
    folded.add(foldCourt(court.replace(/\(.*?\)/g, '')));
  }
  return folded;
});

export function germanRegisterCourts(): readonly string[] {
  return table().de;
}

/**
 * Accepts forms such as `Amtsgericht München`, `AG Muenchen` and `münchen`. The part in brackets is
 * optional.
 */
export function isGermanRegisterCourt(name: string): boolean {
  return names().has(foldCourt(name));
}

function foldCourt(name: string): string {
  return name
    .normalize('NFC')
    .toLowerCase()
    .trim()
    .replace(/^(amtsgericht|ag)\s+/, '')
    .replaceAll('ä', 'ae')
    .replaceAll('ö', 'oe')
    .replaceAll('ü', 'ue')
    .replaceAll('ß', 'ss')
    .replace(/\s+/g, ' ')
    .trim();
}
