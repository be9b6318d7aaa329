import type { CallJson, FaultJson, MessageJson, PlatformJson } from './shapes.ts';
import type { Call, Fault, Features, MessageShown } from '../world/world.ts';

export function messageJson(message: MessageShown): MessageJson {
  const { document } = message;
  return {
    chat_id: message.chatId,
    message_id: message.messageId,
    ephemeral_id: message.ephemeralId,
    only_for: message.onlyFor,
    replaces: message.replaces,
    thread_id: message.threadId,
    from: message.from,
    date: message.date,
    edit_date: message.editDate,
    text: message.text,
    entities: message.entities,
    buttons: message.buttons,
    reply_to: message.replyTo,
    is_pinned: message.isPinned,
    is_silent: message.isSilent,
    service: message.service,
    document:
      document === null
        ? null
        : {
            file_id: document.fileId,
            kind: document.kind,
            name: document.name,
            mime_type: document.mimeType,
            size: document.size,
            is_photo: document.kind === 'photo',
          },
    reactions: message.reactions,
  };
}

export function platformJson({ isEphemeralOn, isPrivacyOn }: Features): PlatformJson {
  return { ephemeral: isEphemeralOn, privacy: isPrivacyOn };
}

export function callJson(call: Call): CallJson {
  return { ...call, at: new Date(call.at).toISOString() };
}

export function faultJson(fault: Fault): FaultJson {
  return {
    id: fault.id,
    kind: fault.kind,
    method: fault.method,
    chat: fault.chat ?? null,
    count: fault.count,
    retry_after: fault.retryAfter,
    delay_ms: fault.delayMs,
    chance: fault.chance,
  };
}
