import { badRequest } from '../bot-api/request.ts';
import { chatJson, memberJson, messageJson, userJson, type Json } from '../bot-api/wire.ts';
import { allRights, bot, botKey, people } from '../world/first-world.ts';
import type { ChatRow } from '../world/rows.ts';
import { chatOf, type Method } from './access.ts';

/** A file of the Bot API can be fetched up to this size. */
const downloadMax = 20 * 1024 * 1024;

const getMe: Method = ({ state }) => ({
  ...userJson(botKey),
  can_join_groups: true,
  can_read_all_group_messages: !state.settings.isPrivacyOn,
  supports_inline_queries: false,
  can_connect_to_business: false,
  has_main_web_app: false,
  // One setting of the bot there; here each private chat has its own, so that both kinds can be tried side by side.
  has_topics_enabled: state.chats.all().some(({ kind, isForum }) => kind === 'private' && isForum),
  allows_users_to_create_topics: true,
});

const getChat: Method = (api, args) => {
  const chat = chatOf(api, args, 'read');
  const pinned = api.state.messages.all().findLast(({ chatId, isPinned }) => chatId === chat.id && isPinned);
  return {
    ...chatJson(chat),
    ...(chat.kind === 'private' ? {} : { permissions: memberPermissions }),
    accent_color_id: 0,
    max_reaction_count: 11,
    ...(pinned === undefined ? {} : { pinned_message: messageJson(api.state, pinned) }),
  };
};

const memberPermissions: Json = {
  can_send_messages: true,
  can_send_media_messages: true,
  can_send_audios: true,
  can_send_documents: true,
  can_send_photos: true,
  can_send_videos: true,
  can_send_video_notes: true,
  can_send_voice_notes: true,
  can_send_polls: true,
  can_send_other_messages: true,
  can_add_web_page_previews: true,
  can_change_info: false,
  can_invite_users: true,
  can_pin_messages: false,
  can_manage_topics: false,
};

function statusOf(chat: ChatRow, key: string): Json {
  if (key === botKey) return memberJson(botKey, chat.botStatus, chat.botRights);
  return memberJson(key, chat.members[key] ?? 'left', allRights);
}

const getChatMember: Method = (api, args) => {
  const chat = chatOf(api, args, 'members');
  const id = args.integer('user_id');
  if (id <= 0) throw badRequest('invalid user_id specified');
  if (id === bot.id) return statusOf(chat, botKey);
  const person = people.find((each) => each.id === id);
  if (person === undefined) throw badRequest('PARTICIPANT_ID_INVALID');
  return statusOf(chat, person.key);
};

const getFile: Method = ({ state }, args) => {
  const id = args.text('file_id');
  if (id === '') throw badRequest('file_id not specified');
  const file = state.file(id);
  if (file === null) throw badRequest('invalid file_id');
  if (file.bytes.byteLength > downloadMax) throw badRequest('file is too big');
  return { file_id: id, file_unique_id: `u${id}`, file_size: file.bytes.byteLength, file_path: `files/${id}` };
};

export const chatMethods: Readonly<Record<string, Method>> = {
  getMe,
  getChat,
  getChatMember,
  getFile,
};
