import type { InvalidField } from '../model/shape/check-shape.js';
import { AccountsRefused } from '../model/violation.js';

/** Lists all invalid fields in one error. Source: accounts, section 2.5. */
export function invalidFields(fields: readonly InvalidField[]): AccountsRefused {
  const [first] = fields;
  const others = fields.length > 1 ? ` (and ${fields.length - 1} more)` : '';
  return new AccountsRefused({
    code: 'invalid_fields',
    ...(first && first.field !== '' && { param: first.field }),
    message: `${first?.message ?? 'A field is invalid.'}${others}`,
    extra: { invalid_fields: fields },
  });
}

export function notFound(what: string, id: string): AccountsRefused {
  const shown = id.length > 100 ? `${id.slice(0, 100)}…` : id;
  return new AccountsRefused({ code: 'not_found', message: `No such ${what}: ${shown}.` });
}

export const accountClosed = (id: string): AccountsRefused =>
  new AccountsRefused({
    code: 'account_closed',
    message: `Account ${id} is closed; it can be read but not changed.`,
  });
