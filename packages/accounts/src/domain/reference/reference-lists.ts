import { invariant } from '@plinth/kernel';
import type { ReferenceLists } from '../../model/platform/reference.js';
import { requestableCapabilities } from './capabilities.js';
import { countryCodes } from './countries.js';
import { currencyCodes, defaultCurrency } from './currencies.js';
import { structures } from './entity-types.js';
import { idNumberTypes } from './id-numbers.js';
import { once } from './read-reference.js';
import { localeTags } from './small-tables.js';

const countries = once(() => new Set(countryCodes()));
const currencies = once(() => new Set(currencyCodes()));
const capabilities = once(() => ({
  customer: requestableCapabilities('customer'),
  merchant: requestableCapabilities('merchant'),
  recipient: requestableCapabilities('recipient'),
}));

/** Members are loaded from their files on first use. */
export const REFERENCE_LISTS: ReferenceLists = {
  get countries() {
    return countries();
  },
  get currencies() {
    return currencies();
  },
  get locales() {
    return localeTags();
  },
  get structures() {
    return structures();
  },
  get businessIdTypes() {
    return idNumberTypes('business');
  },
  get personIdTypes() {
    return idNumberTypes('person');
  },
  get capabilities() {
    return capabilities();
  },
  defaultCurrency(country) {
    const currency = defaultCurrency(country);
    invariant(currency !== undefined, `no currency found for country ${country}`);
    return currency;
  },
};
