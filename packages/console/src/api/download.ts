import { sendForJson } from './client.js';

/** Lets the browser save an answer of any size: by an address that works once, and that no token is in. */
export async function download(at: {
  /** Of GET, with its query. */
  readonly path: string;
  readonly filename: string;
}): Promise<void> {
  const { url } = await sendForJson<{ url: string }>('/ops/v1/downloads', {
    body: { method: 'GET', ...at },
  });
  const link = document.createElement('a');
  link.href = url;
  link.download = at.filename;
  link.click();
}
