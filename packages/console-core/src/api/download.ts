import { sendForJson } from './client.js';

/** Lets the browser save a response of any size, through a one-time URL without a token. */
export async function download(options: {
  /** A GET path with its query. */
  readonly path: string;
  readonly filename: string;
}): Promise<void> {
  const { url } = await sendForJson<{ url: string }>('/ops/v1/downloads', {
    body: { method: 'GET', ...options },
  });
  const link = document.createElement('a');
  link.href = url;
  link.download = options.filename;
  link.click();
}
