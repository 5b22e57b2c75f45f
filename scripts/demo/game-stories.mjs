/** A quest with its trader and items, in two languages; answers are held to the bulk file of the same version. */
export async function showGameData(narrator, client) {
  narrator.title('Game data: the world that every fresh server holds');
  const get = async (path) => {
    const { status, text } = await client.call('GET', path);
    if (status !== 200) throw new Error(`${path}: ${status} ${text.slice(0, 300)}`);
    return JSON.parse(text);
  };
  const whole = await narrator.step(
    'download it whole',
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
      lang === 'en' ? 'a quest, who gives it, what it brings?' : 'the same in French?',
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
    `who was meant by "${mistyped}"?`,
    async () =>
      (await get(`/api/suggest?kinds=traders&q=${encodeURIComponent(mistyped)}`)).suggestions[0]
        ?.name,
    trader.name,
    String,
  );
}
