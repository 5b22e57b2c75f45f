import { type SecretBox, SecretUnreadable, URL_MASK } from '@plinth/kernel';

/** URLs in records of attempts: paths and queries of receivers are often keys, and records are many and kept long. */
export class SealedUrls {
  readonly #box: SecretBox;

  constructor(box: SecretBox) {
    this.#box = box;
  }

  seal(url: string, appId: number): string {
    return Buffer.from(this.#box.seal(url, placeOf(appId))).toString('base64');
  }

  /** Masked as a whole when it was sealed with another master key: the rest of the record can be read all the same. */
  open(text: string, appId: number): string {
    // Records of before URLs were sealed are kept until their time is over. This is exact: a URL has a colon behind its
    // scheme, and the alphabet of Base64 has none.
    if (text.includes(':')) return text;
    try {
      return this.#box.open(Buffer.from(text, 'base64'), placeOf(appId));
    } catch (error) {
      if (error instanceof SecretUnreadable) return URL_MASK;
      throw error;
    }
  }
}

const placeOf = (appId: number): string => `webhooks_delivery_details ${appId}`;
