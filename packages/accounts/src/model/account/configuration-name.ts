export type ConfigurationName = 'customer' | 'merchant' | 'recipient';
export const CONFIGURATION_NAMES: readonly ConfigurationName[] = [
  'customer',
  'merchant',
  'recipient',
];
