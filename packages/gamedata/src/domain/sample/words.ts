import { readFile } from 'node:fs/promises';

export interface Words {
  readonly en: string;
  readonly fr: string;
}

/** Handwritten lists from which sample data is composed. */
export interface WordLists {
  readonly makers: readonly string[];
  readonly adjectives: readonly Words[];
  readonly materials: readonly Words[];
  readonly nouns: Readonly<Record<string, readonly Words[]>>;
  readonly places: readonly Words[];
  readonly verbs: readonly Words[];
  readonly itemTexts: readonly Words[];
  readonly questTitles: readonly Words[];
  readonly chapters: readonly {
    readonly name: Words;
    readonly description: Words;
    readonly fullText: { readonly en: string };
  }[];
  readonly traders: readonly {
    readonly name: string;
    readonly fullName: string;
    readonly location: Words;
    readonly currency: string;
    readonly text: Words;
  }[];
  readonly maps: readonly { readonly name: Words; readonly text: Words; readonly boss: string }[];
  readonly modules: readonly Words[];
  readonly titles: readonly Words[];
}

export async function readWordLists(): Promise<WordLists> {
  const file = new URL('../../../data/words.json', import.meta.url);
  return JSON.parse(await readFile(file, 'utf8')) as WordLists; // ships with the package
}
