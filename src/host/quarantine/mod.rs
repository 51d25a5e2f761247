//! Review sessions on the machine: keys, sealed copies, records, and which agents work in them. What is allowed in a
//! session is decided elsewhere.

mod beneath;
mod copies;
mod holder;
mod intact;
mod kernel;
mod life;
mod making;
mod places;
mod record;
mod register;
mod room;
mod seal;
mod shared;
mod sweep;
mod vault;
mod waiting;

pub use holder::{Holder, descends_from};
pub use intact::intact;
pub use life::{Listed, MAX_NAMED, MAX_OPEN, MAX_TTL_S, Opening, end, key, list, load, open};
pub use places::{reserve, unreserve};
pub use record::{Contents, Ended, Entry, EntryKind, SealedFile, Session, Skipped, Why};
pub use register::{
    AgentRow, AgentState, Denied, Entered, MAX_AGENTS, SentBack, agents, bound, enter, leave, leave_session,
    sent_back,
};
pub use seal::{MAX_DEPTH, MAX_FILE, MAX_FILES, MAX_LOOKED_AT, MAX_TOTAL};
pub use shared::Shared;
pub use sweep::{Swept, sweep};
pub use vault::{VaultKind, probe_own};
pub use waiting::{AgentKey, Start};
