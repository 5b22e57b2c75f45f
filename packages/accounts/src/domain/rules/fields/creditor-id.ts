const FORM = /^[A-Z]{2}\d{2}[A-Z0-9]{3}[A-Z0-9]{1,28}$/;

/** Converts to upper case and removes the blanks of the printed form. */
export function normaliseCreditorId(id: string): string {
  return id.replace(/\s/g, '').toUpperCase();
}

/**
 * Checks the digits by ISO 7064 MOD 97-10 over the national part, the country and the check digits.
 * The business code (positions 5 to 7) is not included, because its owner chooses it freely.
 * @param id normalized.
 */
export function isValidCreditorId(id: string): boolean {
  if (!FORM.test(id)) return false;
  let rest = 0;
  for (const character of `${id.slice(7)}${id.slice(0, 4)}`) {
    // A letter counts as two digits: A is 10, Z is 35.
    const value = Number.parseInt(character, 36);
    rest = (rest * (value < 10 ? 10 : 100) + value) % 97;
  }
  return rest === 1;
}
