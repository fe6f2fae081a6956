"""The peer: the same resources as most would write them, with FastAPI, SQLAlchemy's ORM and aiosqlite.

It works on a copy of the journal's own database (BENCH_DB), with the pragmas that the journal sets.
"""

import hashlib
import os
import secrets
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Annotated, Any, Generic, TypeVar

from fastapi import Depends, FastAPI, HTTPException
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from pydantic import BaseModel, ConfigDict, Field
from sqlalchemy import ForeignKey, event, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncSession, async_sessionmaker, create_async_engine
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

# The database ------------------------------------------------------------------------------------------

engine = create_async_engine(f"sqlite+aiosqlite:///{os.environ['BENCH_DB']}")
sessions = async_sessionmaker(engine, expire_on_commit=False)


@event.listens_for(engine.sync_engine, "connect")
def set_pragmas(connection: Any, record: object) -> None:
    cursor = connection.cursor()
    # Its writers queue inside SQLite, so they need the patience.
    for pragma in ("journal_mode = WAL", "synchronous = FULL", "foreign_keys = ON", "busy_timeout = 30000"):
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()


class Base(DeclarativeBase):
    pass


class ApiKey(Base):
    __tablename__ = "api_keys"
    id: Mapped[int] = mapped_column(primary_key=True)
    user_id: Mapped[int]
    hash: Mapped[bytes]
    scopes: Mapped[str]
    expires_at: Mapped[str | None]
    revoked_at: Mapped[str | None]


class TagCategory(Base):
    __tablename__ = "tag_categories"
    id: Mapped[int] = mapped_column(primary_key=True)
    user_id: Mapped[int]


class Tag(Base):
    __tablename__ = "tags"
    id: Mapped[int] = mapped_column(primary_key=True)
    user_id: Mapped[int]
    category_id: Mapped[int] = mapped_column(ForeignKey("tag_categories.id"))
    name: Mapped[str]
    sort_name: Mapped[str]
    color: Mapped[str]
    type: Mapped[str]
    created_at: Mapped[str]
    updated_at: Mapped[str]


# What goes in and out ----------------------------------------------------------------------------------

T = TypeVar("T")


class FromRow(BaseModel):
    model_config = ConfigDict(from_attributes=True)


class TagIn(BaseModel):
    category_id: int
    name: str = Field(min_length=1, max_length=100)
    color: str = Field("#3b82f6", pattern="^#[0-9a-fA-F]{6}$")
    type: str = Field("custom", pattern="^(mistake|custom)$")


class TagOut(FromRow):
    id: int
    category_id: int
    name: str
    color: str
    type: str
    created_at: str
    updated_at: str


class Tags(BaseModel):
    tags: list[TagOut]


class OneTag(BaseModel):
    tag: TagOut


class Meta(BaseModel):
    request_id: str = Field(default_factory=lambda: f"req_{secrets.token_hex(8)}")


class Answer(BaseModel, Generic[T]):
    ok: bool = True
    data: T
    meta: Meta = Field(default_factory=Meta)


# Requests ----------------------------------------------------------------------------------------------

app = FastAPI()


async def opened_session() -> AsyncIterator[AsyncSession]:
    async with sessions() as session:
        yield session


Session = Annotated[AsyncSession, Depends(opened_session)]


async def caller(session: Session, sent: Annotated[HTTPAuthorizationCredentials, Depends(HTTPBearer())]) -> ApiKey:
    key_hash = hashlib.sha256(sent.credentials.encode()).digest()
    key = await session.scalar(select(ApiKey).where(ApiKey.hash == key_hash))
    if key is None or key.revoked_at is not None:
        raise HTTPException(401)
    return key


Caller = Annotated[ApiKey, Depends(caller)]


@app.get("/v1/tags", response_model=Answer[Tags])
async def list_tags(session: Session, key: Caller) -> Any:
    found = await session.scalars(select(Tag).where(Tag.user_id == key.user_id).order_by(Tag.sort_name, Tag.id))
    return {"data": {"tags": found.all()}}


@app.post("/v1/tags", response_model=Answer[OneTag], status_code=201)
async def create_tag(sent: TagIn, session: Session, key: Caller) -> Any:
    category = await session.get(TagCategory, sent.category_id)
    if category is None or category.user_id != key.user_id:
        raise HTTPException(400, "no such category")
    now = datetime.now(UTC).isoformat().replace("+00:00", "Z")
    tag = Tag(user_id=key.user_id, sort_name=sent.name.casefold(), created_at=now, updated_at=now, **sent.model_dump())
    session.add(tag)
    try:
        await session.commit()
    except IntegrityError:
        raise HTTPException(409, "that name is taken") from None
    return {"data": {"tag": tag}}
