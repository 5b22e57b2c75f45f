import type { SecretBox } from '@plinth/kernel';

/** URLs in records of attempts: paths and queries of receivers are often keys, and records are many and kept long. */
export class SealedUrls {
  readonly #box: SecretBox;

  constructor(box: SecretBox) {
    this.#box = box;
  }

  seal(url: string, appId: number): string {
    return Buffer.from(this.#box.seal(url, placeOf(appId))).toString('base64');
  }

  open(text: string, appId: number): string {
    // Records of before URLs were sealed are kept until their time is over. No Base64 has a colon.
    if (text.includes(':')) return text;
    return this.#box.open(Buffer.from(text, 'base64'), placeOf(appId));
  }
}

const placeOf = (appId: number): string => `webhooks_delivery_details ${appId}`;
