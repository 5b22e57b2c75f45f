const FORM = /^[A-Z]{2}\d{2}[A-Z0-9]{3}[A-Z0-9]{1,28}$/;

/** Upper case, without the blanks of its printed form. */
export function normaliseCreditorId(id: string): string {
  return id.replace(/\s/g, '').toUpperCase();
}

/**
 * Check digits by ISO 7064 MOD 97-10 over the national part, the country and the digits themselves. The business code
 * (positions 5 to 7) does not take part: its owner chooses it freely.
 * @param id normalised.
 */
export function isValidCreditorId(id: string): boolean {
  if (!FORM.test(id)) return false;
  let rest = 0;
  for (const character of `${id.slice(7)}${id.slice(0, 4)}`) {
    // A letter stands for two digits: A is 10, Z is 35.
    const value = Number.parseInt(character, 36);
    rest = (rest * (value < 10 ? 10 : 100) + value) % 97;
  }
  return rest === 1;
}
