/** Prefixes of the keys of unsaved changes in `sessionStorage`. */
export const DRAFT = 'plinth-draft ';
/** Of changes with personal data, which the sign-out deletes. */
export const PERSONAL_DRAFT = 'plinth-personal-draft ';

export function deletePersonalDrafts(): void {
  for (const key of Object.keys(sessionStorage))
    if (key.startsWith(PERSONAL_DRAFT)) sessionStorage.removeItem(key);
}
