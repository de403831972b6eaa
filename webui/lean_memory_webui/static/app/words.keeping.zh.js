// “你的数据”页面的中文。

export const zh = {
  keeping: '你的数据', keeping_about: '它属于你：备份、带走、从别处导入，或让它忘记。', keeping_open: '备份与恢复、带走与导入、保留多久、忘记。', keeping_go: '打开“你的数据”', leave_it: '保持原样', look: '看看',
  backups: '备份', backups_about: '每晚整理前都会做一份。每份备份完成时都会完整读一遍。', backups_none: '还没有备份。', backups_more: (n) => `另有 ${n} 份较早的`, backup_make: '立即备份', backup_making: '正在备份…', backup_made: (bytes) => `已备份，${bytes}。`, backup_verify: '检查', backup_sound: '每个字节都和写入时一样。',
  occasion_asked: '由你所做', occasion_nightly: '夜间', occasion_before_restore: '恢复之前', occasion_before_import: '导入之前',
  restore: '恢复…', restore_title: '恢复', restore_what: (when) => `将恢复到 ${when} 的样子：`, restore_counts: (then, here) => `${then} 条事实，取代现在的 ${here} 条`, restore_about: '现在的状态会另存为一份备份；此后你让它忘记的不会回来。', restore_do: '恢复', restored: '已恢复。', restored_scrubbed: (n) => `你让它忘记的 ${n} 条事实没有回来。`,
  take_out: '带走', take_out_as: '形式', take_out_leanmem: '一个文件，包含所知的一切、何时为真、来自何处。另一个 Lean Memory 可以读入。', take_out_md: '给人看的 Markdown 文本。', form_leanmem: '给另一个记忆', form_md: '给人看', passphrase: '口令', passphrase_maybe: '口令（可不填）', take_out_do: '下载',
  bring_in: '导入', bring_in_about: 'ChatGPT、Claude、mem0、basic-memory、MCP 记忆服务器的导出，旧版 Lean Memory，带走的文件，笔记。写入之前你会看到将要来的内容。', choose_file: '选择文件…', choose_folder: '选择文件夹…', older_here: '数据文件夹里有旧版的记忆：', bring_in_goes_on: '仍在进行…',
  bringing_sending: '正在交给服务…', bringing_looking: '正在查看…', bringing_working: '正在导入…', bring_in_do: '导入', bring_in_would: '将会导入：', bring_in_did: '已经导入：', bring_in_stopped: '已停止；已导入的保留：', bring_in_came: '此前已导入的保留：', bring_in_reached: (place) => `读到 ${place}`, bring_in_broke: '导入中断了：', bring_in_ended: '导入在完成前被停止：', brought_in: (n) => `已导入 ${n} 段文本。`,
  bring_in_new: (added, all) => `${all} 段中有 ${added} 段是新的`, bring_in_known: (n) => `${n} 段已经有了`, bring_in_facts: (n) => `${n} 条事实`, bring_in_into: (names) => `存入 ${names}`, bring_in_forgotten: (n) => `${n} 条没有导入，因为你让它忘记过`, left_out: (n) => `略去 ${n} 处：`,
  kind_in_lean_memory: '旧版 Lean Memory', kind_in_chatgpt: 'ChatGPT', kind_in_claude: 'Claude', kind_in_mem0: 'mem0', kind_in_basic_memory: 'basic-memory', kind_in_mcp_memory: 'MCP 记忆服务器', kind_in_text: '笔记',
  import_counts: (texts, same) => `${texts} 段新文本，${same} 项已知。`, import_add: (n) => `${n} 项是新的`, import_change: (n) => `${n} 项是这里内容的后续`, import_conflict: (n) => `${n} 项与这里矛盾，这里的保留`, import_here: '这里：',
  rules: '保留多久', rules_about: '除非你定了规则，一切都保留到你让它忘记为止。任何规则都不会自行忘记。', rules_none: '没有规则。', rule_new: '新规则…', rule_title: '新规则', rule_removed: '该规则不再有效。', rule_said: (client, where, days, does) => `${where ? `“${where}”中` : ''}${client ? `由 ${client} 告知且` : ''}${days} 天没有人再说过的：${does}`, rule_does_put_away: '收起', rule_does_ask: '问我是否忘记',
  told_by: '由谁告知', by_anybody: '任何人', rule_days: '多少天没有人说过', rule_then: '然后', rule_put_away: '收起', rule_ask: '问我', rule_put_away_about: '它不再出现在日常回答里，可以取回；按过去的日期仍可找到。健康、家人、身份和你要保留的不动。', rule_ask_about: '它会出现在“审阅”里由你决定。你不说，它就留着。', rule_today: (n) => `今天会是 ${n} 条事实。`, rule_set: '定下规则',
  let_go: '忘记', let_go_about: '单条事实在“记忆”页面里忘记。这里忘记某个助手告知的一切、某段时间的一切，或某句话的所有出处。', reach_client: '一个助手', reach_dates: '一段时间', reach_sentence: '一句话', reach_from: '从', reach_to: '到（含）', reach_words: '原话', choose_one: '请选择…', let_go_show: '先看会忘记什么…',
  scrub: '也从备份里去掉', scrubbed: (n) => `${n} 份备份已重做，不再包含它。`,
  did_backup: '做了备份', did_verify_backup: '检查了备份', did_scrub_backups: '把忘记的内容从备份里去掉', did_restore: '恢复了备份', did_would_restore: '询问恢复会取代什么', did_export: '带走了记忆', did_import: '查看或导入了带走的文件', did_set_retention: '定了规则', did_remove_retention: '去掉了规则',
};
