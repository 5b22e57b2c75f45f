import type { StoredAccount } from '../../model/account/account.js';
import { readPhoneNumber } from '../rules/index.js';

/** Stores a contact phone in E.164 format if it can be parsed. Source: accounts, section 8.1. */
export function normalisePhone(account: StoredAccount): StoredAccount {
  const { contact_phone, identity } = account.fields;
  if (contact_phone === undefined) return account;
  const number = readPhoneNumber(contact_phone, identity?.country);
  if (number === undefined || number.e164 === contact_phone) return account;
  return { ...account, fields: { ...account.fields, contact_phone: number.e164 } };
}
