import type { StoredAccount } from '../../model/account/account.js';
import { readPhoneNumber } from '../rules/index.js';

/** A contact phone that can be read is kept as E.164. Source: accounts, section 8.1. */
export function normalisePhone(account: StoredAccount): StoredAccount {
  const { contact_phone, identity } = account.fields;
  if (contact_phone === undefined) return account;
  const number = readPhoneNumber(contact_phone, identity?.country);
  if (number === undefined || number.e164 === contact_phone) return account;
  return { ...account, fields: { ...account.fields, contact_phone: number.e164 } };
}
