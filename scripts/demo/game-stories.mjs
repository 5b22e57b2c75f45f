/** Shows a quest with its trader and items in two languages, and compares the responses with the bulk file of the same version. */
export async function showGameData(narrator, client) {
  narrator.title('Game data: the sample world of every new server');
  const get = async (path) => {
    const { status, text } = await client.call('GET', path);
    if (status !== 200) throw new Error(`${path}: ${status} ${text.slice(0, 300)}`);
    return JSON.parse(text);
  };
  const whole = await narrator.step(
    'download the complete world',
    () => get('/api/bulk/v1/all.json'),
    (found) => `${Object.values(found).reduce((sum, { length }) => sum + length, 0)} records`,
  );
  const quest = whole.quests.find(({ reward }) => reward.items.length > 1);
  const trader = whole.traders.find(({ id }) => id === quest.giverId);
  const nameOf = (record, lang) => record.locales[lang]?.name ?? record.name;
  for (const lang of ['en', 'fr']) {
    const rewards = quest.reward.items.map(({ id, count }) => {
      const item = whole.items.find((one) => one.id === id);
      return `${count} x ${nameOf(item, lang)}`;
    });
    await narrator.check(
      lang === 'en' ? 'a quest, its trader and rewards' : 'the same in French',
      async () => {
        const path = `/api/quests?ids=${quest.id}&expand=trader,items&lang=${lang}`;
        const { quests, included } = await get(path);
        const [{ title, giverId, reward }] = quests;
        const names = reward.items.map(({ id, count }) => `${count} x ${included.items[id].name}`);
        return { title, trader: included.traders[giverId].name, rewards: names };
      },
      {
        title: lang === 'en' ? quest.title : (quest.locales[lang]?.title ?? quest.title),
        trader: nameOf(trader, lang),
        rewards,
      },
      (found) => `${found.title}: ${found.trader} gives ${found.rewards.join(', ')}`,
    );
  }
  const mistyped = `${trader.name.slice(0, 3)}${trader.name[4]}${trader.name[3]}${trader.name.slice(5).split(' ')[0]}`;
  await narrator.check(
    `correct the typing error in "${mistyped}"`,
    async () =>
      (await get(`/api/suggest?kinds=traders&q=${encodeURIComponent(mistyped)}`)).suggestions[0]
        ?.name,
    trader.name,
    String,
  );
}
