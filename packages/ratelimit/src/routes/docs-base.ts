import type { RateLimitConfig } from '../config.js';

/**
 * Start of every `documentation_url`.
 * @param base address of this server as its client knows it.
 */
export function docsBaseAt(config: RateLimitConfig, base: string): string {
  if (config.docs_base !== undefined) return config.docs_base.replace(/\/+$/, '');
  return config.vendor_name === 'GitHub' ? 'https://docs.github.com' : `${base}/docs`;
}
