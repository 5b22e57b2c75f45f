import { DRAFT, PERSONAL_DRAFT } from '@plinth/console-core/lib/storage/drafts.js';
import { useState } from 'react';

/**
 * Keeps text that the user edits in this tab until it is saved or reverted.
 * @param key the URL of the object.
 * @param stored the text on the server, and `base`, its version.
 * @param isPersonal whether the text contains personal data, so that a sign-out deletes it.
 */
export function useDraft(
  key: string,
  stored: { readonly text: string; readonly base: string } | undefined,
  isPersonal = false,
) {
  const storageKey = `${isPersonal ? PERSONAL_DRAFT : DRAFT}${key}`;
  const [draft, setDraft] = useState(() => read(storageKey));
  const keep = (next: Draft | undefined): void => {
    setDraft(next);
    try {
      if (next === undefined) sessionStorage.removeItem(storageKey);
      else sessionStorage.setItem(storageKey, JSON.stringify(next));
    } catch {
      // The storage is full; the draft is kept in this page.
    }
  };
  return {
    text: draft?.text ?? stored?.text ?? '',
    isChanged: draft !== undefined && draft.text !== stored?.text,
    /** The version that the edited text is based on. */
    base: draft?.base ?? stored?.base ?? '',
    /** @param base the version that the text is now based on, if it was merged with a newer one. */
    change: (text: string, base = draft?.base ?? stored?.base ?? '') => keep({ text, base }),
    revert: () => keep(undefined),
  };
}

interface Draft {
  readonly text: string;
  readonly base: string;
}

function read(storageKey: string): Draft | undefined {
  const text = sessionStorage.getItem(storageKey);
  return text === null ? undefined : (JSON.parse(text) as Draft);
}
