/**
 * Returns the prefix of every `documentation_url` of the GitHub-compatible APIs.
 * @param base address of this server as the client sees it.
 */
export function docsBaseAt(
  config: { readonly vendor_name: string; readonly docs_base?: string | undefined },
  base: string,
): string {
  if (config.docs_base !== undefined) return config.docs_base.replace(/\/+$/, '');
  return config.vendor_name === 'GitHub' ? 'https://docs.github.com' : `${base}/docs`;
}
