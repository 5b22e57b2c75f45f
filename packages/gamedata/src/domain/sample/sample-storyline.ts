import { SampleRandom } from './sample-random.js';
import {
  type Body,
  chapterId,
  mapId,
  QUEST_BLOCK,
  questId,
  TRADER_COUNT,
  traderId,
  type World,
} from './sample-world.js';

export function* makeChapters({ seed, wordLists }: World): Generator<Body> {
  const random = new SampleRandom(seed, 'storyline');
  for (const [index, chapter] of wordLists.chapters.entries()) {
    const trader = index % TRADER_COUNT;
    const { name, description, fullText } = chapter;
    const firstQuest = Math.min(index * 10, QUEST_BLOCK - 12);
    yield {
      id: chapterId(seed, index),
      order: index + 1,
      name: name.en,
      description: description.en,
      details: fullText.en.split('. ', 2).join('. '),
      fullText: fullText.en,
      character: wordLists.traders[trader]?.name,
      timeline: `year ${40 + index} after the Outage`,
      importance: index % 4 === 0 ? 'critical' : index % 2 === 0 ? 'major' : 'minor',
      relatedQuests: random
        .some(
          Array.from({ length: 11 }, (_entry, at) => firstQuest + at),
          3 + (index % 3),
        )
        .map((quest) => ({ id: questId(seed, quest) })),
      relatedCharacters: [{ id: traderId(seed, trader), name: null, role: 'witness' }],
      events: [0, 1].map((at) => ({
        date: `day ${random.between(1, 360)}`,
        title: `${name.en}: ${at === 0 ? 'the first sign' : 'the reckoning'}`,
        description: `Told at ${random.pick(wordLists.places).en}.`,
      })),
      requires: index === 0 ? [] : [chapterId(seed, index - 1)],
      mapIds: [mapId(wordLists, index)],
      objectives: [
        {
          id: `s${index}-1`,
          type: 'locate',
          description: `Reach ${random.pick(wordLists.places).en}.`,
          optional: false,
        },
        {
          id: `s${index}-2`,
          type: 'other',
          description: `Decide what ${wordLists.traders[trader]?.name} may know.`,
          optional: true,
        },
      ],
      rewards: [{ type: 'experience', value: (index + 1) * 1500 }],
      branches:
        index % 6 === 5 ? { tell: { leadsTo: 'trust' }, withhold: { leadsTo: 'doubt' } } : {},
      locales: {
        fr: { name: name.fr, ...(index % 2 === 0 && { description: description.fr }) },
      },
    };
  }
}
