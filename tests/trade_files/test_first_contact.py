"""Files that no format was made for: what they show of themselves, what is asked, what is left out."""

# ruff: noqa: E501 (the rows of files are as long as they are)

import io
from pathlib import Path
from typing import Any

from commands import import_file
from factories import Client, create_import, details_of, error_of, read_file, send_file, unwrap
from file_positions import FileTrade, read_positions_of
from file_tables import show_trade
from saved_journals import for_rows

from journal_api.positions.import_rows import Rejected
from journal_api.trade_files.profiles.profile_format import decode_profile
from journal_api.trade_files.profiles.proposal import propose_profile, write_toml, write_value
from journal_api.trade_files.reader import NO_TRADES
from journal_api.values.instruments import InstrumentTable
from journal_api.values.money import PositiveMoney

# A file, the format or None for the proposed profile, symbol, direction, quantity, gross P&L and fees of its
# trades, and the rows left out by reason.
FILES: dict[str, tuple[str, str | None, list[tuple[Any, ...]], dict[str, int]]] = {
    "French names, decimal commas, a currency behind": (
        "Instrument;Compte;Pos. marché.;Qté;Prix d'entrée;Prix de sortie;Heure d'entrée;Heure de sortie;Profit;Commission\n"
        "NQ JUN26;Sim101;Short;1;23960,00;23955,50;13/04/2026 10:00:00;13/04/2026 10:03:00;90,00 $;0,00 $\n",
        "NinjaTrader trades",
        [("NQ JUN26", "short", "1", "90", "0")],
        {},
    ),
    "other letters, another word, no id": (
        "ACCOUNTNAME,Contract name,Execute Price,filled at,Position disposition,SIDE,Qty,Status\n"
        "TSX-1,/ESU6,5000.25,2026-08-20 09:31:05,Opening,Bid,2,Filled\n"
        "TSX-1,/ESU6,5010.50,2026-08-20 09:45:10,Closing,Ask,2,Filled\n"
        "TSX-1,/ESU6,5010.50,2026-08-20 09:46:10,Opening,Ask,2,Cancelled\n",
        "TopstepX orders",
        [("/ESU6", "long", "2", "1025", "0")],
        {"Status is not Filled": 1},
    ),
    "ids below the last name or beside it": (
        "Date,Symbol,Qty,Price,,Order ID,\n2026-03-02,QLTX,10,2,EUR,,a-1\n2026-03-03,QLTX,-10,3,EUR,a-2\n"
        "Date,Symbol,Qty,Price,,Order ID,\n",
        None,
        [("QLTX", "long", "10", "10", "0")],
        {"repeats the header": 1},
    ),
    "years of the Republic of China": (
        "成交日期,買賣別,證券代號,成交股數,成交價\n115/03/02,現股買進,2330,2,500\n115/03/03,現股賣出,2330,2,510\n",
        None,
        [("2330", "long", "2", "20", "0")],
        {},
    ),
    "years of the Buddhist era": (
        "วันที่,หลักทรัพย์,Side,จำนวน,ราคา\n02/03/2569,QLTX,Buy,10,5\n13/03/2569,QLTX,Sell,10,6\n",
        None,
        [("QLTX", "long", "10", "10", "0")],
        {},
    ),
    "names in a row of words that are unknown, above a row of words": (
        "Tarih,Hisse Kodu (Sembol),İşlem Türü,Döviz Türü,Miktar (Adet),Birim Fiyat\n"
        "2026-03-02,QLTX,Alış,TRY,10,5.5\n2026-03-03,QLTX,Satış,TRY,10,6.5\n",
        None,
        [("QLTX", "long", "10", "10", "0")],
        {},
    ),
    "the sign of what was paid, with its costs": (
        "Tago,Symbol,Quantity,Price,Fee,Pagita\n2026-03-02,QLTX,10,12.5,CA$2,-127\n2026-03-03,QLTX,10,13.5,CA$2,133\n",
        None,
        [("QLTX", "long", "10", "10", "4")],
        {},
    ),
    "a statement of Interactive Brokers in French, of two accounts": (
        "Statement,Header,Nom champ,Valeur champ\n"
        "Transactions,Header,DataDiscriminator,Catégorie d'actifs,Devise,Compte,Symbole,Date/Heure,Quantité,Prix trans.,"
        "Cours de clôt.,Produit,Comm/Tarif,Base,P/L réalisé,P/L MTM,Code\n"
        'Transactions,Data,Order,Actions,USD,U1,QLTX,"2026-03-02, 15:02:59",1,174,172.42,-174,-0.35,174.35,0,-1.58,O\n'
        'Transactions,Data,Order,Actions,USD,U1,QLTX,"2026-03-03, 16:04:18",-1,201,201.08,201,-0.35,-174.35,26,-0.06,C\n'
        "Transactions,SubTotal,,Actions,USD,QLTX,,,0,,,27,-0.70,0,26,-1.64,\n"
        'Transactions,Data,Order,Actions,USD,U2,ABCX,"2026-03-03, 16:04:18",2,20,20,-40,-0.5,40.5,0,0,O\n'
        "Positions,Header,DataDiscriminator,Catégorie d'actifs,Devise,Compte,Symbole,Quantité,Mult,Prix,Base,Valeur,P/L,Code\n"
        "Positions,Data,Summary,Actions,USD,U2,ABCX,2,1,20,40,40,0,\n",
        "IBKR activity statement",
        [("ABCX", "long", "2", None, "0.5"), ("QLTX", "long", "1", "27", "0.7")],
        {},
    ),
    "lots of a file for taxes": (
        "Asset,Amount,Date Acquired,Date Sold,Proceeds (USD),Cost Basis (USD),Gain/Loss (PLN)\n"
        "BTC,0.25,01-15-2026 (UTC),04-20-2026 (UTC),12500,10500,8000\n"
        "ETH,0.5,02-01-2026 (UTC),05-01-2026 (UTC),1400,1600,-800\n",
        None,
        [("BTC", "long", "0.25", "2000", "0"), ("ETH", "long", "0.5", "-200", "0")],
        {},
    ),
    "a quantity that is the value by another one, and the day first beside decimal commas": (
        "Data;Pair;Side;Price;Volume;Amount\n01/02/2026;QLT/EUR;Buy;0,5;5;10\n03/02/2026;QLT/EUR;Sell;0,6;6;10\n",
        None,
        [("QLT/EUR", "long", "10", "1", "0")],
        {},
    ),
    "options in a column beside the share": (
        "Date,Action,Symbol,Description,Quantity,Price,Reg Fee,REG FEE\n"
        "2026-03-02,Bought,QLTX,CALL QLTX   04/17/26   12.000,1,2,,0.06\n2026-03-03,Sold,QLTX,CALL QLTX   04/17/26   12.000,1,3,,0.06\n"
        "2026-03-03,Bought,QLTX,QUOLATEX INC,5,12,,\n",
        None,
        [("QLTX", "long", "5", None, "0"), ("QLTX260417C00012000", "long", "1", "100", "0.12")],
        {},
    ),
    "kinds of assets named before their symbols": (
        "Product,Date,Action,Symbol code,Quantity,Price\nShares,2026-03-02,Buy,QLTX,1,2\nShares,2026-03-03,Buy,ABCX,1,3\n"
        "Fund,2026-03-04,Buy,FUNX,1,3\n",
        None,
        [(name, "long", "1", None, "0") for name in ("ABCX", "FUNX", "QLTX")],
        {},
    ),
    "open trades below, in columns of other places, and closed trades again": (
        "Time,Position,Symbol,Type,Volume,Price,S/L,Time,Price,Commission,Profit\n"
        "2026.03.02 09:30:00,1,QLTX,buy,1,10,0,2026.03.02 11:45:00,12,-3,2\n,,,,,,,,,,\n"
        "Open Trades,,,,,,,,,,\nTime,Position,Symbol,Type,Volume,Price,S/L,Price,Profit,,\n"
        "2026.03.03 14:00:00,3,ABCX,buy,1,10,0,11,1,,\n"
        "Time,Position,Symbol,Type,Volume,Price,S/L,Time,Price,Commission,Profit\n"
        "2026.03.04 09:30:00,4,QLTX,buy,1,10,0,2026.03.04 11:45:00,12,-3,2\n",
        None,
        [("QLTX", "long", "1", "2", "3")] * 2,
        {
            "repeats the header": 1,
            "is in another table: Time, Position, Symbol, Type, Volume, Price, S/L, Price, Profit": 2,
            "is text below the table": 1,
        },
    ),
    "cancelled purchases, names with a currency, cells below a header without names": (
        "Pairs,Order Type,Side,Amount,Volume,Price (USD),Fee,Makuleringsdato,Time,,,\n"
        "QLTX,MARKET,BUY,10,20.1,2,1,,2026-03-02 10:00,0.5,x,\nQLTX,LIMIT,BUY,10,20.1,2,1,2026-03-03,2026-03-02 11:00,0,x,\n"
        "QLTX,LIMIT,SELL,10,30.1,3,1,,2026-03-03 10:00,12,x,\n",
        None,
        [("QLTX", "long", "10", "10", "2")],
        {"Makuleringsdato is stated": 1},
    ),
    "positions of one symbol, each with its own stop, and a status that is of deposits": (
        "Ticket,Symbol,Type,Status,Volume,Open Time,Open Price,S/L,Close Time,Close Price,Profit\n"
        ",,deposit,COMPLETED,,2026-03-01 10:00:00,,,2026-03-01 10:00:00,,500\n"
        "1,QLTX,buy,SETTLED,10,2026-03-02 10:00:00,12,11,2026-03-02 12:00:00,13,10\n"
        "2,QLTX,buy,SETTLED,10,2026-03-02 11:00:00,12,11,2026-03-02 12:00:00,13,10\n",
        None,
        [("QLTX", "long", "10", "10", "0")] * 2,
        {"Symbol is empty": 1},
    ),
    "fills beside the price at the end of the day": (
        "Symbol,Date,Buy/Sell,Quantity,TradePrice,ClosePrice,FIFOPNLRealized\nQLTX,2026-03-02,BUY,10,18,18.1,0\n"
        "QLTX,2026-03-03,SELL,10,19,19.1,10\n",
        None,
        [("QLTX", "long", "10", "10", "0")],
        {},
    ),
    "options in a description, and numbers of rows that begin alike": (
        "Date,Order,Symbol,Description,Action,Quantity,Price\n"
        "2026-03-02,A1001,,CALL QLTX 04/17/26 12.00 QUOLATEX INC,Buy,1,2\n"
        "2026-03-03,A1002,,CALL QLTX 04/17/26 12.00 QUOLATEX INC,Sell,1,3\n",
        None,
        [("QLTX260417C00012000", "long", "1", "100", "0")],
        {},
    ),
    "names where no column has symbols": (
        "Date,Order,Name,Action,Quantity,Price\n2026-03-02,DELIVERY,Quolatex Inc,Buy,1,2\n2026-03-03,INTRADAY,Quolatex Inc,Sell,1,3\n"
        "2026-03-04,DELIVERY,Abacus plc,Buy,1,3\n",
        None,
        [("Abacus plc", "long", "1", None, "0"), ("Quolatex Inc", "long", "1", "1", "0")],
        {},
    ),
    "a header without rows": ("Date,Symbol,Side,Quantity,Price\n", None, [], {}),
    "orders whose words name an expiration": (
        "Day,Action,Ticker,Size,Price\n2026-03-02 09:31,Buy weekly expiration,QLTX260417C00012000,1,2\n"
        "2026-03-03 16:00,Sell weekly expiration,QLTX260417C00012000,1,3\n",
        None,
        [("QLTX260417C00012000", "long", "1", "100", "0")],
        {},
    ),
    "options that are assigned at their strikes": (
        "Day,Action,Ticker,Size,Price\n2026-03-02 09:31,Sell,QLTX260417C00012000,1,2\n"
        "2026-04-17 16:00,Assigned,QLTX260417C00012000,1,12\n2026-04-17 16:00,Buy,QLTX260417C00012000,1,3\n",
        None,
        [("QLTX260417C00012000", "short", "1", "-100", "0")],
        {"Action is 'Assigned'": 1},
    ),
    "an option that expires": (
        "Day,Action,Ticker,Size,Price\n2026-03-02 09:31,Sell to Open,QLTX260417C00012000,1,2\n"
        "2026-04-17 16:00,Expired,QLTX260417C00012000,1,\n",
        None,
        [("QLTX260417C00012000", "short", "1", "200", "0")],
        {},
    ),
    "section lines of a Flex query": (
        '"BOF","U2","Trades","1"\n"HEADER","POST","ClientAccountID","Symbol"\n"DATA","POST","U1","QLTX"\n'
        '"HEADER","TRNT","ClientAccountID","Symbol","Buy/Sell","LevelOfDetail","Quantity","TradePrice","DateTime","IBCommission"\n'
        '"DATA","TRNT","U1","QLTX","BUY","EXECUTION","10","40","20260302;093105","-1"\n'
        '"DATA","TRNT","U2","QLTX","BUY","EXECUTION","5","40","20260302;094105","-1"\n'
        '"DATA","TRNT","U2","QLTX","SELL","EXECUTION","-5","41","20260302;095105","-1"\n'
        '"DATA","TRNT","U1","QLTX","SELL","EXECUTION","-10","41","20260302;100000","-1"\n"EOS","TRNT","4"\n',
        "IBKR Flex trades",
        [("QLTX", "long", "10", "10", "2"), ("QLTX", "long", "5", "5", "2")],
        {},
    ),
    "a statement that a spreadsheet has saved": (
        "Statement,Header,Field Name,Field Value;;;\n"
        "Trades,Header,DataDiscriminator,Asset Category,Symbol,Date/Time,Quantity,T. Price,Proceeds,Comm/Fee,Code;;;\n"
        '"Trades,Data,Order,Futures,MESU6,""2026-08-04, 07:01:59"",1,7644,-38220,-0.61,O";;;\n'
        '"Trades,Data,Order,Futures,MESU6,""2026-08-04, 07:27:50"",-1,7647,38235,-0.61,C";;;\n',
        "IBKR activity statement",
        [("MESU6", "long", "1", "15", "1.22")],
        {},
    ),
    "an option with blanks, amounts in parentheses, a header again": (
        "Trade Date,Market Symbol,Buy/Sell,QTY,Price,Comm,Net Amount\n"
        '11/10/2025 09:41:00 ET,DASH  20251112C  230.000,B,5,$4.70,($2.25),"($2,352.25)"\n'
        "Trade Date,Market Symbol,Buy/Sell,QTY,Price,Comm,Net Amount\n"
        '11/10/2025 09:44:00 ET,DASH  20251112C  230.000,S,5,$3.84,($2.25),"$1,917.75"\n',
        None,
        [("DASH251112C00230000", "long", "5", "-430", "4.5")],
        {"repeats the header": 1},
    ),
    "German names, a day and a clock in two columns, the sign of the quantity": (
        "Datum,Uhrzeit,Produkt,ISIN,Anzahl,,Kurs,,Wert in Lokalwährun,,Transaktionskost,,Gesamt\n"
        "15-03-2026,10:00,QLTX INC,US0000000001,10,,190.00,USD,-1900.00,USD,-1.00,EUR,-1901.00\n"
        "16-03-2026,15:30,QLTX INC,US0000000001,-10,,195.00,USD,1950.00,USD,-1.00,EUR,1949.00\n",
        None,
        [("QLTX INC", "long", "10", "50", "2")],
        {},
    ),
    "quantities in parentheses, a ticker that looks like nothing": (
        "Time,Ticker,Shares,Unit price,Fees\n2026-03-02 09:31,NA,10,2.5,--\n2026-03-02 09:41,NA,(10),3,N/A\n",
        None,
        [("NA", "long", "10", "5", "0")],
        {},
    ),
    "Swedish sides, money movements, decimal commas": (
        "Datum;Konto;Typ av transaktion;Värdepapper/beskrivning;Antal;Kurs;Belopp;Courtage (SEK)\n"
        "2026-01-13;A;Sälj;QLTX;-10;154,5;1545;1\n2026-01-12;A;Köp;QLTX;10;150,25;-1502,5;1\n"
        "2026-01-10;A;Insättning;Insättning;;;1215;0\n",
        None,
        [("QLTX", "long", "10", "42.5", "2")],
        {"Typ av transaktion is 'Insättning'": 1},
    ),
    "suffixes of times, dates of two forms, a total": (
        "Symbol\tTrade Type\tEntry DateTime\tExit DateTime\tEntry Price\tExit Price\tTrade Quantity\tProfit/Loss (C)\n"
        "MNQH26_FUT_CME\tShort\t2026-01-29  09:52:48.170 BP\t2026-01-29  09:53:50.801 EP\t25721.25\t25731.00\t1\t-19.50\n"
        "\t\t\t\t\t\t\tTotal: -19.50\n",
        None,
        [("MNQH26_FUT_CME", "short", "1", "-19.5", "0")],
        {"Symbol is empty": 1},
    ),
    "one time per trade, closing sides, the result after costs": (
        "Contracts,Closing Direction,Qty,Entry Price,Exit Price,Closed P&L,Trade Time(UTC+0)\n"
        "NEARUSDT,Close Short,1100,12.468,9.170,3610.47166973,2026-05-10 00:10:30\n"
        "KNCUSDT,Close Long,5200,2.3770,2.3843,38.29397998,2026-05-09 10:27:04\n",
        None,
        [("KNCUSDT", "long", "5200", "38.29397998", "0"), ("NEARUSDT", "short", "1100", "3610.47166973", "0")],
        {},
    ),
    "sides and costs in a column of an unknown name": (
        "Date,Activity,Symbol,Quantity,Price,Value\n2026-03-02,Buy,QLTX,10,2,-20\n2026-03-02,Fees,QLTX,1,1,-1\n"
        "2026-03-03,Sell,QLTX,10,3,30\n",
        None,
        [("QLTX", "long", "10", "10", "0")],
        {"Activity is 'Fees'": 1},
    ),
    "days in words of other languages": (
        "Date,Symbol,Side,Quantity,Price\n13. März 2026,QLTX,Buy,1,1\n14 févr. 2026 à 09:31,QLTX,Buy,1,1\n"
        "14 de marzo de 2026,QLTX,Buy,1,1\n13MRT2026 9:31 a. m.,QLTX,Buy,1,1\n16/mag/26,QLTX,Sell,5,2\n"
        "2026年3月13日 09:31,QLTX,Buy,1,1\n",
        None,
        [("QLTX", "long", "5", "5", "0")],
        {},
    ),
    "sides that are entered and left": (
        "Date,Symbol,Action,Quantity,Price\n2026-03-02,QLTX,Enter Long,1,2\n2026-03-03,QLTX,Exit Long,1,3\n"
        "2026-03-04,QLTX,Enter Short,1,2\n2026-03-05,QLTX,Exit Short,1,1\n",
        None,
        [("QLTX", "long", "1", "1", "0"), ("QLTX", "short", "1", "1", "0")],
        {},
    ),
    "units in words, symbols that are formulas": (
        'Date,Symbol,Side,Quantity,Price\n2026-03-02,"=""0700""",Buy,10 shares,"1,200.5"\n'
        '2026-03-03,="0700",Sell,10 pcs.,kr 1201.5\n',
        None,
        [('="0700"', "long", "10", "10", "0")],
        {},
    ),
    "Italian costs, a security by its Swedish name": (
        "Data operazione;Värdepapper;Segno;Aantal stuks;Prezzo;Commissioni\n02/03/2026;QLTX;Acquisto;10;2,5;1\n"
        "13/03/2026;QLTX;Vendita;10;3,5;1\n",
        None,
        [("QLTX", "long", "10", "10", "2")],
        {},
    ),
    "lots in traditional Chinese": (
        "成交時間,商品,買賣,口數,成交價格,手續費\n2026/03/02 09:31,QLTX,買,1,2,1\n2026/03/03 09:31,QLTX,賣,1,3,1\n",
        None,
        [("QLTX", "long", "1", "1", "2")],
        {},
    ),
    "a purchase and its sale in one row": (
        "Scrip,Quantity,Buy Date,Buy Price,Sale Date,Sale Price,P&L\nQLTX,10,2026-03-13,2.5,2026-03-14,3.5,10\n",
        None,
        [("QLTX", "long", "10", "10", "0")],
        {},
    ),
    "days and times of both ends in columns of their own": (
        "Entry Date,Entry Time,Exit Date,Exit Time,Symbol,Long/Short,Qty,Entry Price,Exit Price,P&L,Fees\n"
        "03/13/2026,09:31,03/16/2026,09:30,QLTX,Long,10,2.5,3.5,10,1\n"
        "03/14/2026,09:31,03/14/2026,10:31,ACMX,Short,10,3.5,2.5,10,1\n",
        None,
        [("ACMX", "short", "10", "10", "1"), ("QLTX", "long", "10", "10", "1")],
        {},
    ),
    "one day of two times": (
        "Trade Date,Entry Time,Exit Time,Symbol,L/S,Qty,Entry Price,Exit Price\n"
        "03/13/2026,09:31,09:41,QLTX,L,10,2.5,3.5\n03/14/2026,09:31,10:31,QLTX,S,10,3.5,2.5\n",
        None,
        [("QLTX", "long", "10", "10", "0"), ("QLTX", "short", "10", "10", "0")],
        {},
    ),
    "closed positions of an exchange": (
        "Futures,Open Time,Close Time,Side,Avg Entry Price,Avg Close Price,Max Open Interest,Closed Qty,Closing PNL\n"
        "BTCUSDT,2026-03-13 09:31:00,2026-03-14 09:31:00,Long,60000,61000,0.2,0.1,100\n",
        None,
        [("BTCUSDT", "long", "0.1", "100", "0")],
        {},
    ),
    "no price, and sales with a sign": (
        "Date,Symbol,Type,Qty,Amount\n2026-03-13,QLTX,Buy,10,-25\n2026-03-14,QLTX,Sell,-10,35\n",
        None,
        [("QLTX", "long", "10", "10", "0")],
        {},
    ),
    "states of orders": (
        "Date,Symbol,Side,Quantity,Price,Order State\n2026-03-13 09:31,QLTX,Buy,10,2.5,FILLED\n"
        "2026-03-13 09:41,QLTX,Sell,10,9,REJECTED\n2026-03-13 09:51,QLTX,Sell,10,3.5,FILLED\n",
        None,
        [("QLTX", "long", "10", "10", "0")],
        {"Order State is not FILLED": 1},
    ),
    "no price but the value": (
        "Datum;Transactietype;Waarde (netto);Opmerking;ISIN;Aantal;Kosten\n"
        "2026-07-24;Verkoop;11,5;QLTX;IE00BK5BQT80;0,5;1\n2026-07-23;Aankoop;-10,25;QLTX;IE00BK5BQT80;0,5;1\n"
        "2026-07-22;Storting;100;John;;;\n",
        None,
        [("IE00BK5BQT80", "long", "0.5", "1.25", "2")],
        {"ISIN is empty": 1},
    ),
    "an ISIN in a long name, points before commas": (
        "Security / ISIN,Transaction Type,Quantity,Share Price,Trade Date/Time\n"
        'Quality of the World UCITS ETF Dist / ISIN IE00BK5BQT80,Buy,10,"£1.110,79",23/12/25 15:18:12\n'
        'Quality of the World UCITS ETF Dist / ISIN IE00BK5BQT80,Sell,10,"£1.111,79",24/12/25 15:18:12\n',
        None,
        [("IE00BK5BQT80", "long", "10", "10", "0")],
        {},
    ),
    "the columns of an option beside the symbol of its share": (
        "Trade Date,Symbol,Expiry,Strike,Call/Put,Action,Qty,Price\n"
        "2026-03-02 09:31,QLTX,3/20/2026,12,C,Buy to open,1,2\n2026-03-03 09:31,QLTX,3/20/2026,12,C,Sell to close,1,3\n"
        "2026-03-04 09:31,QLTX,3/20/2026,12,P,Sell to close,1,3\n2026-03-04 09:31,QLTX,,,,Dividend,,\n",
        None,
        [("QLTX260320C00012000", "long", "1", "100", "0"), ("QLTX260320P00012000", "short", "1", None, "0")],
        {"Action is 'Dividend'": 1},
    ),
    "one id in all rows, which identifies none": (
        "Instrument;Action;Quantity;Price;Time;ID;E/X;Position;Commission;Account\n"
        "MES JUN26;Buy;1;7200,75;27/04/2026 6:05:02;id;Entry;-;0,62 $;Sim\n"
        "MES JUN26;Sell;1;7204,75;27/04/2026 6:10:02;id;Exit;-;0,62 $;Sim\n"
        "MES JUN26;Sell;1;7204,75;27/04/2026 6:11:02;id;Exit;-;0,62 $;Sim\n",
        "NinjaTrader executions",
        [("MES JUN26", "long", "1", "20", "1.24"), ("MES JUN26", "short", "1", None, "0.62")],
        {},
    ),
    "sides of 1 and -1, the time of the order": (
        "id,qty,stock,orderDateTime,trade_date,side,tradedPrice\n"
        "1,10,NSE:QLTX-EQ,16-01-2026 09:15,16-01-2026,-1,1145.4\n"
        "2,10,NSE:QLTX-EQ,16-01-2026 15:00,16-01-2026,1,1140.4\n",
        None,
        [("NSE:QLTX-EQ", "short", "10", "50", "0")],
        {},
    ),
    "a zone in Europe, words in one": (
        "ExecId,Date,StockSymbol,TransactionType,Quantity,PricePerShare\n"
        "1,20260119 18:33:18 EET,QLTX,SLD,10,22.5\n2,20260119 18:38:03 EET,QLTX,BOT,10,22\n",
        None,
        [("QLTX", "short", "10", "5", "0")],
        {},
    ),
    "no side, the day 0 of a spreadsheet": (
        "Ticker,Open_Date,Close_Date, Shares , Avg_Entry , Avg_Exit \n"
        'QLTX,11/16/25,1/29/26,"1,200.00",10.5,$11.50 \nQLTX,1/30/26,1/0/00,10,11,$0.00 \n',
        None,
        [("QLTX", "long", "10", None, "0"), ("QLTX", "long", "1200", "1200", "0")],
        {},
    ),
    "Swiss thousands, a minus that is none, seconds since 1970": (
        "time|pair|qty|price\n1772443860|QLTX|1’000|1'010.50\n1772444460123|QLTX|−1’000|1'011.50\n",
        None,
        [("QLTX", "long", "1000", "1000", "0")],
        {},
    ),
    "thousands with points, which the decimal commas of other numbers show": (
        "Datum;Symbol;Kauf/Verkauf;Anzahl;Kurs\n02.03.2026 09:31;QLTX;Kauf;1.000;10,50\n"
        "02.03.2026 09:41;QLTX;Verkauf;1.000;11,50\nSumme;Gesamt;Verkauf;1.000;11,50\n",
        None,
        [("QLTX", "long", "1000", "1000", "0")],
        {"Symbol is a total": 1},
    ),
    "orders that were filled in part, in the order of a feed": (
        "Date,Symbol,Side,Order Qty,Filled Qty,Price,Status\n"
        '"Mon, 02 Mar 2026 09:31:00",QLTX,Buy,100,60,10,Partially filled\n'
        '"Mon, 02 Mar 2026 09:41:00",QLTX,Sell,60,60,11,Filled\n"Mon, 02 Mar 2026 09:42:00",QLTX,Buy,9,0,11,Cancelled\n',
        None,
        [("QLTX", "long", "60", "60", "0")],
        {"Filled Qty is 0": 1},
    ),
    "the filled part of an order": (
        '"Time","Type","Instrument","Qty.","Avg. price","Status"\n'
        '"2026-05-05 10:27:58","BUY","QLTX","17/20",288.85,"COMPLETE"\n'
        '"2026-05-05 10:28:58","SELL","QLTX","17/17",289.85,"COMPLETE"\n',
        None,
        [("QLTX", "long", "17", "17", "0")],
        {},
    ),
    "a swap, which is a booking, and results at changing rates, each of its own row": (
        "Time;Type;Volume;Symbol;Price;Time;Price;Commission;Swap;Profit\n"
        "2026.03.02 11:00:00;Buy;1;USDCAD;1.33;2026.03.02 12:00:00;1.34;;-5.5;750.12\n"
        "2026.03.02 11:30:00;Buy;1;USDCAD;1.33;2026.03.02 12:30:00;1.34;;-1.5;745.01\n",
        None,
        [("USDCAD", "long", "1", "745.01", "1.5"), ("USDCAD", "long", "1", "750.12", "5.5")],
        {},
    ),
    "commissions without a sign, swaps with one": (
        "Symbol,Side,Qty,Entry Price,Exit Price,Entry Time,Exit Time,Commission,Swap,Profit\n"
        "QLTX,Long,100,10,11,2026-03-02 09:31,2026-03-02 09:41,2,-1,100\n",
        None,
        [("QLTX", "long", "100", "100", "3")],
        {},
    ),
    "values in another currency than the prices": (
        "Code,Type,Date,Quantity,Price *,Currency,Exchange Rate,Value\n"
        "QLTX,Buy,2026-03-02,10,250,USD,1.3,1923.08\nQLTX,Sell,2026-03-03,-10,300,USD,1.4,-2142.86\n",
        None,
        [("QLTX", "long", "10", "500", "0")],
        {},
    ),
    "a symbol like a future, whose values show that it is none": (
        "Trade date,Symbol,Buy/Sell,Quantity,Price,Gross Amount\n"
        "2026-03-15,QLX1,Buy,4,1000.0,-4000.0\n2026-08-15,QLX1,Sell,4,1001.00,4004.0\n",
        None,
        [("QLX1", "long", "4", "4", "0")],
        {},
    ),
    "a total below a grid": (
        "Trade number,Instrument,Account,Market pos.,Qty,Entry price,Exit price,Entry time,Exit time,Profit\n"
        "1,MNQ 03-26,Sim,Long,1,100,110,3/4/2026 10:00:00 AM,3/4/2026 10:01:00 AM,$20.00\nTotal,,,,,,,,,$20.00\n",
        "NinjaTrader trades",
        [("MNQ 03-26", "long", "1", "20", "0")],
        {"Instrument is empty": 1},
    ),
    "a Flex query without accounts, with taxes on the commissions": (
        "Symbol,Buy/Sell,LevelOfDetail,Quantity,TradePrice,DateTime,IBCommission,Taxes\n"
        "QLTX,BUY,EXECUTION,10,40,20260302;093105,-1,-0.09\nQLTX,SELL,EXECUTION,-10,41,20260302;100000,-1,-0.09\n",
        "IBKR Flex trades",
        [("QLTX", "long", "10", "10", "2.18")],
        {},
    ),
    "payments of funding among fills": (
        "Symbol,Order No.,Opening Time,Direction,Filled Type,Filled Qty,Filled Price,Fees Paid\n"
        "NEARUSDT,1,2026-05-10 00:10:30,Open Long,Trade,10,5,0.5\nNEARUSDT,2,2026-05-10 08:00:00,Open Long,Funding,10,5,1\n"
        "NEARUSDT,3,2026-05-10 09:10:30,Close Long,Trade,10,6,0.5\n",
        None,
        [("NEARUSDT", "long", "10", "10", "1")],
        {"Filled Type is not Trade or Liquidation or ADL": 1},
    ),
    "averages that are all 0 beside fills": (
        "Ticker,Action,Date,Shares,Amount,Value,Avg_Entry,Avg_Exit\n"
        "QLTX,BUY,2026-03-02 09:31:00,10,5,50,0.0,0.0\nQLTX,SELL,2026-03-02 10:31:00,10,6,60,0.0,0.0\n",
        None,
        [("QLTX", "long", "10", "10", "0")],
        {},
    ),
    "the price of one end alone is named for it": (
        "Ticket,Open Time,Type,Size,Symbol,Price,S/L,Close Time,Close Price,Swap,Profit\n"
        "1,2026.03.02 10:30:00,buy,0.10,EURUSD,1.08500,1.08,2026.03.02 14:45:00,1.08850,-0.50,35.00\n",
        None,
        [("EURUSD", "long", "0.1", "35", "0.5")],
        {},
    ),
    "two tables, the trades in the second, the side in a sentence": (
        "Cash Transactions,,,,,\nDate,Details,Amount,Balance,,\n08/03/2026,Deposit,15000,15000,,\n,,,,,\n"
        "Date,InvestmentName,TransactionDetails,Quantity,Price,Cost\n"
        '10/03/2026,Foo ETF (FOO),"Bought 1,000 Foo ETF (FOO)",1000,9.5,9500\n'
        "25/03/2026,Foo ETF (FOO),Sold 1000 Foo ETF (FOO),1000,10,10000\nCost,0,,,,\n",
        None,
        [("Foo ETF (FOO)", "long", "1000", "500", "0")],
        {"Price is empty": 1},
    ),
    "sides that only the sign of the amount tells, and the right of an option in the column Type": (
        "Date,Symbol,Type,Strike,Expiration,Quantity,Amount\n12/4/2025,SPY,Put,$684.00,12/14/2025,1,166.97\n"
        "12/4/2025,SPY,Call,$684.00,12/14/2025,2,-20.04\n12/3/2025,SPY,Put,$684.00,12/14/2025,1,-58.02\n",
        None,
        [("SPY251214C00684000", "long", "2", None, "0"), ("SPY251214P00684000", "long", "1", "108.95", "0")],
        {},
    ),
    "days at midnight beside a clock, in an order that is not theirs": (
        "date,company,trade_time,side,quantity,price\n2026-03-02 00:00:00,QLTX,14:41:30,Sell,2,11\n"
        "2026-03-02 00:00:00,QLTX,09:41:30,Buy,2,10\n2026-03-02 00:00:00,QLTX,15:41:30,Buy,1,10\n",
        None,
        [("QLTX", "long", "1", None, "0"), ("QLTX", "long", "2", "2", "0")],
        {},
    ),
    "a rejected order whatever else it has": (
        "Order ID,B/S,Contract,avgPrice,filledQty,Fill Time,Status\n1,Buy,MNQM6,21500,1,05/28/2026 09:31:00,Filled\n"
        "2,Sell,MNQM6,21525,1,05/28/2026 09:34:00,Filled\n3,Sell,MNQM6,21480,2,05/28/2026 14:01:00,Rejected\n",
        "Tradovate orders",
        [("MNQM6", "long", "1", "50", "0")],
        {"Status is Rejected": 1},
    ),
    "the amount of a coin beside its total": (
        "Date(UTC),Market,Type,Price,Amount,Total,Fee,Fee Coin\n2026-03-02 04:44:02,SOLUSDT,SELL,99,2,198,0.0002,BNB\n"
        "2026-03-02 04:34:02,SOLUSDT,BUY,97,2,194,0.0002,BNB\n",
        None,
        [("SOLUSDT", "long", "2", "4", "0")],
        {},
    ),
    "ISINs below another name, a currency behind a name, dividends among signed quantities": (
        "Datum;Type mutatie;Volume;Asset Price in CHF;Kosten;Isin code\n02-03-2026;Koop Fondsen;2;10;1;IE00BK5BQT80\n"
        "03-03-2026;Contant dividend;2;1,5;0;IE00BK5BQT80\n16-03-2026;Verkoop Fondsen;-2;11;1;IE00BK5BQT80\n",
        None,
        [("IE00BK5BQT80", "long", "2", "2", "2")],
        {"Type mutatie is 'Contant dividend'": 1},
    ),
    "a coin before the names": (
        "Date,Transaction Type,BTC Amount,BTC Price,Currency Pair,Fee\n2026-03-02T08:51:48Z,Buy,0.5,5000,BTC/CHF,1\n"
        "2026-03-03T08:51:48Z,Sell,0.5,6000,BTC/CHF,1\n",
        None,
        [("BTC/CHF", "long", "0.5", "500", "2")],
        {},
    ),
    "sides of one letter, a date that only its cells tell, values of which some are converted": (
        "Operazione,Titolo,Segno,Quantita,Prezzo,Cambio,Controvalore\n16/02/2026,QLTX C14.00 18JUN26,A,2,0.33,,66\n"
        "17/02/2026,QLTX C14.00 18JUN26,V,2,0.35,,70\n18/02/2026,XYZ,A,10,20,1.25,160\n19/02/2026,XYZ, ,1,0.00,,\n",
        None,
        [("QLTX260618C00014000", "long", "2", "4", "0"), ("XYZ", "long", "10", None, "0")],
        {"Segno is empty": 1},
    ),
    "sales among other types of orders": (
        "Date,Order type,Quantity,Status,Execution price,Instrument\n15 Jun 2026,Sell at market price,12,Executed,5,QLTX\n"
        "16 Jun 2026,Withhold-to-cover,10,Executed,5,QLTX\n",
        None,
        [("QLTX", "short", "12", None, "0")],
        {"Order type is 'Withhold-to-cover'": 1},
    ),
    "fills in words, costs of another name": (
        'Trade Date,Type,Instrument,Event,Amount,Costs\n02-Jan-2026,Trade,QLTX,Sell 1000 @ 12.5 USD,"12,500",2\n'
        '01-Jan-2026,Trade,QLTX,Buy 1000 @ 12 USD,"-12,000",1\n01-Jan-2026,Cash,,Custody fee,-3,\n',
        None,
        [("QLTX", "long", "1000", "500", "3")],
        {"Type is not Trade": 1},
    ),
    "a coin in the column of a currency, the zone in one of its own": (
        "Timezone,Date,Time,Type,Currency,Amount,Quote Price,Fee amount\nEurope/Berlin,2026-03-03,10:00:00,sell,ADA,-10,2,0\n"
        "Europe/Berlin,2026-03-02,10:00:00,buy,ADA,10,1,0\nEurope/Berlin,2026-03-01,10:00:00,deposit,EUR,10,,0\n",
        None,
        [("ADA", "long", "10", "10", "0")],
        {"Type is 'deposit'": 1},
    ),
    "a currency before the names": (
        "Timestamp,Transaction Type,Asset,Quantity Transacted,EUR Spot Price at Transaction,EUR Subtotal,EUR Fees\n"
        "2026-03-02T08:51:48Z,Buy,BTC,0.5,5000,2500,7.5\n2026-03-03T08:51:48Z,Sell,BTC,0.5,6000,3000,7.5\n",
        None,
        [("BTC", "long", "0.5", "500", "15")],
        {},
    ),
    "no names, blanks in no words, a title, a remark at the end": (
        "ACCOUNT\nACT|U1|John|Street 1, Town\n\nSTOCKS\n"
        "STK|12|QLTX|QUALITY LTD|IEX,BEX|SELLTOOPEN|O|20260302|10:40:22|USD|-250.00|1.00|24.01|-6002.50|-1.17|\n"
        "STK|12|XYZ|XYZ LTD|ARCA|SELLTOOPEN|O|20260302|10:41:22|USD|-125.00|1.00|16.76|-2095.00|-0.89|\n"
        "STK|12|QLTX|QUALITY LTD|IEX|BUYTOCLOSE|C|20260302|10:42:07|USD|250.00|1.00|24.08|6020.00|-1.32|\n\nEOF\n",
        None,
        [("QLTX", "short", "250", "-17.5", "2.49"), ("XYZ", "short", "125", None, "0.89")],
        {"is text below the table": 1},
    ),
    "Chinese names and sides, costs in coins": (
        "时间,交易类型,交易对,方向,价格,数量,成交额,手续费\n2026-03-03 20:36:17,币币交易,BTC/USDT,卖出,60,5,300,0.1BTC1S\n"
        "2026-03-02 20:32:37,币币交易,BTC/USDT,买入,50,5,250,0.2BTC1S\n",
        None,
        [("BTC/USDT", "long", "5", "50", "0")],
        {},
    ),
    "a side with the coin that is also a side, a long name": (
        "Date/Time,Market,Price,Amount,Offer type\n2026-03-02 10:00:00,Expeditors International of Washington Inc,10,2,Sell BTC\n"
        "2026-03-03 10:00:00,Expeditors International of Washington Inc,9,2,Buy BTC\n",
        None,
        [("Expeditors Internati…l of Washington Inc", "short", "2", "2", "0")],
        {},
    ),
    "a coin that is also a side, no side": (
        "ID,Amount,Price,Trading Currency,Original Currency,Time\n1,0.5,100,BTC,JPY,2026-03-02 16:20:00 UTC\n",
        None,
        [("BTC", "long", "0.5", None, "0")],
        {},
    ),
    "the name behind the side": (
        "Position ID,Action,Amount,Units,Open Rate,Close Rate,Profit,Open Date,Close Date\n"
        "1,Buy Advanced Qualities Inc,100,10,10,11,10,30/01/2026 15:13,31/01/2026 20:55\n"
        "2,Sell XYZ,100,10,10,11,-10,30/01/2026 15:13,31/01/2026 20:55\n",
        None,
        [("Advanced Qualities Inc", "long", "10", "10", "0"), ("XYZ", "short", "10", "-10", "0")],
        {},
    ),
    "prices in the second of two columns, a row of another width": (
        "Action,Time,Ticker,Quantity,Price per Share,Price per Share in Account Currency,Total\n"
        "Buy,2026-03-02 10:00,QLTX,10,,2,20\nInterest on cash,2026-03-02 11:00,,1\nSell,2026-03-03 10:00,QLTX,10,,3,30\n",
        None,
        [("QLTX", "long", "10", "10", "0")],
        {"has 4 cells where the header has 7": 1},
    ),
    "a title with names, a clock before its day": (
        ",,,Price,Time,Quantity,Date\nSymbol,Side,Order Time,Avg Price,Quantity,,\nQLTX,Buy,09:42:23 AM 05/27/2026,2,10,,\n"
        "QLTX,Sell,09:43:23 AM 05/27/2026,3,10,,\n",
        None,
        [("QLTX", "long", "10", "10", "0")],
        {},
    ),
    "a clock without signs beside the day": (
        "Symbol,Buy/Sell,LevelOfDetail,Quantity,TradePrice,TradeDate,TradeTime\nQLTX,BUY,EXECUTION,10,2,20260302,093406\n"
        "QLTX,SELL,EXECUTION,-10,3,20260302,100000\n",
        "IBKR Flex trades",
        [("QLTX", "long", "10", "10", "0")],
        {},
    ),
    "an option on a future": (
        "Account Trade History\n,Exec Time,Spread,Side,Qty,Pos Effect,Symbol,Exp,Strike,Type,Price,Net Price,Order Type\n"
        ",4/27/26 10:27:04,SINGLE,SELL,-1,TO CLOSE,/NQM26 1/20 APR 26 (Wednesday) (Wk5),/Q4CJ26,13450,CALL,122.00,122.00,LMT\n"
        ",4/27/26 10:25:04,SINGLE,BUY,+1,TO OPEN,/NQM26 1/20 APR 26 (Wednesday) (Wk5),/Q4CJ26,13450,CALL,144.50,144.50,LMT\n",
        "ThinkOrSwim statement",
        [("Q4CJ26 13450 C", "long", "1", "-450", "0")],
        {},
    ),
    "a value with the costs in it": (
        "Date;Type;Value;Fees;Shares;Ticker Symbol\n2026-03-03T10:00;Sell;-118,00;2,00;10;QLTX\n2026-03-02T10:00;Buy;102,00;2,00;10;QLTX\n",
        None,
        [("QLTX", "long", "10", "16", "0")],
        {},
    ),
    "codes of numbers, a rate, a total less fees, two dashes": (
        "证券代码,成交日期,成交数量,Rate,买卖,印花税,Base Total Less Fee\n600519,20260302,10,2,买,0.5,-20\n600519,20260303,10,3,卖,0.5,30\n",
        None,
        [("600519", "long", "10", "10", "1")],
        {},
    ),
    "a dash in place of another, a month with a point": (
        'Date,Type,Instrument,Quantity,Price\n"Mar. 2, 2026, 01:30 PM",Buy,Bar – B,10,2\n"Mar. 3, 2026, 01:30 PM",Sell,Bar - B,10,3\n',
        None,
        [("Bar - B", "long", "10", "10", "0")],
        {},
    ),
    "options of an unknown form, costs in small values": (
        "Date,Symbol,Quantity,Price,Amount\n2026-01-23,XYZ#B0626C510000,-2,2.10,418.70\n2026-02-02,XYZ#B0626C510000,2,0.01,-3.30\n",
        None,
        [("XYZ#B0626C510000", "short", "2", "418", "0")],
        {},
    ),
    "an amount of its destination, coins in small letters": (
        "Date,Destination,Destination Amount,Destination Currency,Origin,Origin Amount,Origin Currency\n"
        "2026-03-02 10:00,A,1,ltc,B,100,usdc\n2026-03-03 10:00,A,24,gbp,B,24,gbp\n2026-03-04 10:00,A,120,usdc,B,1,ltc\n",
        None,
        [("LTC/USDC", "long", "1", "20", "0")],
        {"Trade price is empty": 1},
    ),
    "an amount received for another": (
        "Date,Received Quantity,Received Currency,Sent Quantity,Sent Currency,Fee Amount\n2026-03-02 10:00,0.1,ETH,200,USDC,0.5\n"
        "2026-03-03 10:00,110,USDC,0.05,ETH,0.5\n2026-03-04 10:00,,,0.05,ETH,\n2026-03-05 10:00,120,USDC,0.05,ETH,\n",
        None,
        [("ETH/USDC", "long", "0.1", "30", "1")],
        {"Trade price is empty": 1},
    ),
    "an amount bought and its currency beside it": (
        "Type;Buy;Cur.;Sell;Cur.;Fee;Cur.;Group;Date\nTrade;0,5;BTC;500;EUR;1;EUR;;01.03.2026 10:00:00\n"
        "Deposit;0,1;BTC;;;;;;02.03.2026 10:00:00\nTrade;600;EUR;0,5;BTC;1;EUR;;03.03.2026 10:00:00\n",
        None,
        [("BTC/EUR", "long", "0.5", "100", "2")],
        {"Type is not Trade": 1},
    ),
    "two columns of sides, of which one is of the trade": (
        "Contract,Side,B/S,Qty,Fill Price,Fill Time\nMNQH26,Sell,Sell,1,100,2026-03-02 10:00\nMNQH26,Sell,Buy,1,90,2026-03-02 10:05\n",
        None,
        [("MNQH26", "short", "1", "20", "0")],
        {},
    ),
    "a quantity or lot": (
        "Date,Time,Symbol,Buy/Sell,Quantity/Lot,Trade Price,Status\n"
        "13/05/26,9:39:19,TEXAS,SELL,7,227,Traded\n13/05/26,9:20:30,TEXAS,BUY,7,225,Traded\n13/05/26,9:10:30,KROSS,BUY,7,225,Rejected\n",
        None,
        [("TEXAS", "long", "7", "14", "0")],
        {"Status is not Traded": 1},
    ),
    "an empty column first, options beside an order of shares that works": (
        "Notes,,Time Placed,Side,Qty,Pos Effect,Symbol,Exp,Strike,Type,PRICE,Status\n"
        ",,6/22/26 12:40:29,BUY,+1,TO OPEN,QLTX,17 JUL 26,120,CALL,.52,FILLED\n,,6/22/26 12:45:29,SELL,-1,TO CLOSE,QLTX,17 JUL 26,120,CALL,.72,FILLED\n"
        ",,6/22/26 12:55:29,SELL,-1,TO CLOSE,QLTX,,,STOCK,7,WORKING\n",
        None,
        [("QLTX260717C00120000", "long", "1", "20", "0")],
        {"Status is not FILLED": 1},
    ),
    "orders of a German platform": (
        "Symbol,Seite,Anz.,Aktiv bei,Erfüllungsmenge,Durchschnittlicher Erfüllungspreis,Platzierungszeit,Status,Status Zeit\n"
        "MESM26,Buy,1,,1,6525,2026-03-27 10:00:02,Ausgeführt,2026-03-27 10:42:02\nMESM26,Buy,1,6520,0,,2026-03-27 10:42:10,Storniert,2026-03-27 10:43:00\n"
        "MESM26,Sell,1,,1,6530,2026-03-27 10:30:00,Ausgeführt,2026-03-27 11:00:00\n",
        None,
        [("MESM26", "long", "1", "25", "0")],
        {"Durchschnittlicher Erfüllungspreis is empty": 1},
    ),
    "names of known parts, zones in them, a fee in the coin that is bought": (
        "Symbol,Side,Avg. Filled Price,Filled Amount,Filled Volume,Filled Time(UTC+02:00),Fee,Fee Currency\n"
        "BTC-USDT,BUY,60000,0.1,6000,2026-03-15 11:00:00,0.0001,BTC\nBTC-USDT,SELL,61000,0.1,6100,2026-03-16 11:00:00,6.1,USDT\n",
        None,
        [("BTC-USDT", "long", "0.1", "100", "6.1")],
        {},
    ),
    "levels, a position size that is closed, an open trade of one day": (
        "MarketName,Direction,Closed Vol.,Opening level,Closing level,DateUtc\nGermany 40,BUY,1,18000,18050,2026-03-02\nGermany 40,SELL,2,18050,,2026-03-03\n",
        None,
        [("Germany 40", "long", "1", "50", "0"), ("Germany 40", "short", "2", None, "0")],
        {},
    ),
    "Japanese names and sides": (
        "約定日,約定時刻,銘柄コード,銘柄名,取引区分,数量[株],約定単価,手数料[円],税金[円]\n2026/05/15,10:00:00,9984,ソフトバンクＧ,信用新規買,200,8000,550,55\n"
        "2026/05/16,11:30:00,9984,ソフトバンクＧ,信用返済売,200,8100,550,55\n",
        None,
        [("ソフトバンクＧ", "long", "200", "20000", "1210")],
        {},
    ),
    "German units, apostrophes of a spreadsheet, a kind of order": (
        "Orderart;Stück/Nominal;ISIN;Kurs;Betrag;Datum / Zeit\nKauf Sparplan;10,5 Stück;IE00B4L5Y983;79,136;830,93;'03.01.2022 09:15:21\n"
        "Verkauf;10,5 Stück;IE00B4L5Y983;80,00;840,00;'20.01.2022 09:15:17\n",
        None,
        [("IE00B4L5Y983", "long", "10.5", "9.072", "0")],
        {},
    ),
    "Norwegian names and sides, a total of costs beside its part": (
        "Id;Handelsdag;Transaksjonstype;Verdipapir;ISIN;Antall;Kurs;Totale Avgifter;Kurtasje;Beløp\n"
        "3;2026-06-27;SALG;QLTX A;US0378331005;66;44,5;99;90;29846\n2;2026-06-26;UTBYTTE;QLTX A;US0378331005;66;0;0;0;120\n"
        "1;2026-06-24;KJØPT;QLTX A;US0378331005;66;42,5;99;90;-28706\n",
        None,
        [("QLTX A", "long", "66", "132", "198")],
        {"Transaksjonstype is 'UTBYTTE'": 1},
    ),
    "Russian names and sides": (
        "Дата сделки;Код инструмента;Операция;Количество;Цена сделки;Комиссия;Валюта\n"
        "2026-05-14;SBER;Купля;300;255.00;15.30;RUB\n2026-06-18;SBER;Продажа;300;256.00;15.30;RUB\n",
        None,
        [("SBER", "long", "300", "300", "30.6")],
        {},
    ),
    "wide parentheses of remarks": (
        "約定日,銘柄コード,銘柄名,取引区分,売買区分,数量［株］,単価［円］,手数料［円］,税区分\n"
        '2026/06/15,7267,本田技研,現物,買付,100,"1,602.5",0,-\n2026/08/01,7267,本田技研,現物,売付,100,"1,702.5",0,-\n',
        None,
        [("本田技研", "long", "100", "10000", "0")],
        {},
    ),
    "traditional Chinese": (
        "成交日期,股票代號,買賣別,成交數量,成交價,手續費,交易稅\n"
        '2026/01/02,1101A,現股買進,"1,000",40.00,34,0\n2026/02/03,1101A,現股賣出,"1,000",42.00,35,126\n',
        None,
        [("1101A", "long", "1000", "2000", "195")],
        {},
    ),
    "bookings in words, a change of the depositary": (
        "Buchtag;ISIN;Nominal;;Buchungsinformationen;Kurs;\n29.12.2025;US94106L1098;-20;Stk.;Ausführung ORDER Verkauf 2;190,12;EUR\n"
        "17.12.2025;US94106L1098;20;Stk.;Ausführung ORDER Kauf 1;188,12;EUR\n12.12.2025;NO0011082075;-500;Stk.;Lagerstellenwechsel;8,22;EUR\n",
        None,
        [("US94106L1098", "long", "20", "40", "0")],
        {"Buchungsinformationen is 'Lagerstellenwechsel'": 1},
    ),
    "a price per unit, an amount per share": (
        "security,trade date,action,shares,amount/share,commission\nQLTX,2026-01-03,Buy,20,1.5,1\nQLTX,2026-01-04,Sell,20,2,\n",
        None,
        [("QLTX", "long", "20", "10", "1")],
        {},
    ),
    "short names, a dash before the clock, an amount that is the size": (
        "time,coin,dir,px,sz,fee,Amount\n18/09/2025 - 14:59:56,ETH,Open Long,4500,2,1,2\n19/09/2025 - 14:59:56,ETH,Close Long,4600,2,1,2\n",
        None,
        [("ETH", "long", "2", "200", "2")],
        {},
    ),
    "C and V, French costs": (
        "Date,Heure,Code ISIN,C/V,Quantité,Cours,Frais de courtage et/ou de parties\n"
        "15-03-2026,10:00,US0378331005,C,10,190.00,-1.00\n16-03-2026,15:30,US0378331005,V,10,195.00,-1.00\n",
        None,
        [("US0378331005", "long", "10", "50", "2")],
        {},
    ),
    "the asset behind the side, where some have no ISIN": (
        "Action,Units,Open Date,Close Date,Profit,Open Rate,Close Rate,ISIN\nBuy CSX Corp,1,04/11/2022 13:31:25,21/12/2022 15:49:30,2,29,31,US1264081035\n"
        '"Sell Tesla Motors, Inc.",1,09/12/2022 14:31:31,21/12/2022 14:46:22,34,173,139,\n',
        None,
        [("CSX Corp", "long", "1", "2", "0"), ("Tesla Motors, Inc.", "short", "1", "34", "0")],
        {},
    ),
    "proceeds and costs of a share": (
        "Symbol,Closed Date,Opened Date,Quantity,Proceeds Per Share,Cost Per Share,Gain/Loss ($)\nNVDA,03/20/2026,03/02/2026,10,$130.00,$120.00,$100.00\n",
        None,
        [("NVDA", "long", "10", "100", "0")],
        {},
    ),
    "profits before the commissions": (
        "Instrument,Market pos.,Qty,Entry price,Exit price,Entry time,Exit time,Profit,Commission\n"
        "MNQ 03-26,Long,2,21000.25,21010.75,3/2/2026 9:31:05 AM,3/2/2026 9:45:10 AM,$42.00,$1.24\n",
        "NinjaTrader trades",
        [("MNQ 03-26", "long", "2", "42", "1.24")],
        {},
    ),
    "an entry without a result": (
        "Trade #,Type,Signal,Date/Time,Price USD,Contracts,Profit USD\n"
        "2,Entry long,Long,2026-03-03 10:00,5,1,\n1,Exit short,Cover,2026-03-02 15:00,9,1,−25.00\n1,Entry short,Short,2026-03-02 09:00,8,1,\n",
        "TradingView list of trades",
        [("TradingView", "long", "1", None, "0"), ("TradingView", "short", "1", "-25", "0")],
        {},
    ),
    "times as JavaScript writes them": (
        "symbol,side,time,qty,price\n"
        "QLTX,buy,Tue Aug 25 2026 08:19:47 GMT-0700 (Pacific Daylight Time),1,100\n"
        "QLTX,sell,Tue Aug 25 2026 08:28:43 GMT-0700 (Pacific Daylight Time),1,105\n",
        None,
        [("QLTX", "long", "1", "5", "0")],
        {},
    ),
    "sides in a column of operations": (
        "发生日期,证券代码,业务名称,成交价格,成交数量\n"
        "2026-01-15,000858,证券买入,156.80,100\n2026-02-20,000858,证券卖出,162.50,100\n",
        None,
        [("000858", "long", "100", "570", "0")],
        {},
    ),
}


@for_rows("name", FILES)
def test_a_file_is_read_as_it_is_or_by_the_profile_that_is_proposed(name: str) -> None:
    content, file_format, trades, left_out = FILES[name]
    profiles = []
    if file_format is None:
        proposal = propose_profile(io.BytesIO(content.encode()))
        assert proposal is not None
        profiles = [decode_profile(write_toml(proposal.profile).encode())]

    file = read_file(content, "America/New_York", profiles=profiles)

    rows = [show_trade(row) for row in read_positions_of(file) if isinstance(row, FileTrade)]
    members = ("symbol", "direction", "quantity", "gross_pnl", "fees")
    assert file.format == (file_format or "New profile")
    assert sorted(tuple(row[name] for name in members) for row in rows) == trades
    assert file.left_out.counts == left_out


FILLS = "Date,Symbol,Quantity,Price,Currency"
LONG, SHORT = "2026-03-02 10:00,2026-03-02 11:00", "2026-03-02 12:00,2026-03-02 13:00"


@for_rows(
    "rows, line, reason",
    [
        (
            ["Date,Symbol,Qty,Price,P&L", "2026-03-02,QLTX,-10,10,", "2026-03-03,QLTX,10,11,10"],
            2,
            "P&L of QLTX is 10.00, and its fills make the opposite: are purchases and sales reversed?",
        ),
        (
            ["Date,Symbol,Side,Qty,Price,Net P&L", "2026-03-02,QLTX,Buy,10,10,4", "2026-03-03,QLTX,Sell,9,11,-6"],
            2,
            "all fills of a symbol have a Net P&L, as if none opened a position: is each row a whole trade?",
        ),
        (
            [
                "Date,Symbol,Action,Amount,Price",
                "2026-03-02,BTC-USDT,Buy,0.01,90000",
                "2026-03-02,BTC-USDT,Sell,900,90000",
            ],
            2,
            "fills of one time are each other's value, as if a fill had two rows: export one row per fill",
        ),
        (
            [
                "Symbol,Side,Qty,Entry Price,Exit Price,Entry Time,Exit Time,P&L",
                f"QLTX,Long,10,10,11,{LONG},-10",
                f"QLTX,Long,10,11,10,{SHORT},10",
            ],
            3,
            "1 of 1 results contradict the direction and the prices of their trades: are long and short reversed?",
        ),
    ],
)
def test_results_that_contradict_the_sides_reject_the_file_without_force(
    rows: list[str], line: int, reason: str
) -> None:
    content = "\n".join(rows)
    proposal = propose_profile(io.BytesIO(content.encode()))
    assert proposal is not None
    profiles = [decode_profile(write_toml(proposal.profile).encode())]

    file = read_file(content, profiles=profiles)
    forced = read_file(content, profiles=profiles, force=True)

    errors = [(row.line, row.reason) for row in read_positions_of(file) if isinstance(row, Rejected)]
    assert errors == [(line, f"{reason}; force (--force) imports it as it is")]
    assert forced.left_out.warnings == [reason]


@for_rows(
    "rows, warnings",
    [
        (
            ["2026-03-02,EURUSD,0.01,1.1,USD", "2026-03-03,EURUSD,-0.01,1.2,USD"],
            [
                "quantities of EURUSD are read as units of the currency: if they are lots, state the point value of"
                " EURUSD as 100000"
            ],
        ),
        (["2026-03-02,EURUSD,1000,1.1,USD", "2026-03-03,EURUSD,-1000,1.2,USD"], []),
        (
            ["2026-03-02,QLTX,1,10,USD", "2026-03-03,QLTX,1,11,USD"],
            ["every fill is a purchase: the profile has no side, and no quantity is negative"],
        ),
        (
            ["2026-03-02,QLTX,1,10,EUR", "2026-03-03,QLTX,-1,11,USD"],
            ["Currency is in EUR, USD: amounts are not converted, sums of them are wrong"],
        ),
        (
            ["2026-03-02,XAUUSD,0.01,4100,USD", "2026-03-03,XAUUSD,-0.01,4120,USD"],
            [
                "quantities of XAUUSD are read as units of the currency: if they are lots, state the point value of XAUUSD as 100"
            ],
        ),
        (["2026-03-02,QLTX,,,USD"], [NO_TRADES]),
        (
            ["2026-03-02,QLTX,1,10,GBX", "2026-03-03,QLTX,-1,11,GBX"],
            ["Currency is in GBX: amounts are in pence, but for costs that are in pounds"],
        ),
        (
            ["2026-03-02,QLTX,-9,10,USD", "2026-03-03,QLTX,1,11,USD", "2026-03-03,ESH6,-1,7000,USD"],
            ["sold before it is bought: short, unless an earlier file buys it or it was held before (long_only): QLTX"],
        ),
        (
            ["2026-03-02,QLTX,-9,10,USD", "2026-03-03,QLTX,9,11,USD"],
            ["sold before it is bought: short, unless an earlier file buys it or it was held before (long_only): QLTX"],
        ),
        (["2026-03-02,QLTX,1,10,USD", "2026-03-03,QLTX,-1,11,USD"], []),
    ],
)
def test_the_report_says_why_the_trades_may_be_wrong(rows: list[str], warnings: list[str]) -> None:
    content = "\n".join([FILLS, *rows])
    proposal = propose_profile(io.BytesIO(f"{content}\n2026-03-03,QLTX,-1,11,USD".encode()))
    assert proposal is not None

    file = read_file(content, profiles=[decode_profile(write_toml(proposal.profile).encode())])

    assert file.left_out.warnings == warnings


def test_the_signs_of_coins_that_are_sent_and_received_are_no_sides() -> None:
    content = (
        "Timestamp,Transaction Type,Asset,Quantity Transacted,Price\n"
        "2026-03-02 10:00,Receive,BTC,0.5,42000\n2026-03-03 10:00,Send,BTC,-0.5,43000\n"
    )
    proposal = propose_profile(io.BytesIO(content.encode()))
    assert proposal is not None

    file = read_file(content, profiles=[decode_profile(write_toml(proposal.profile).encode())])

    assert (read_positions_of(file), file.left_out.warnings) == ([], [NO_TRADES])


def test_a_result_of_a_first_fill_is_told_and_a_short_sale_is_one() -> None:
    content = (
        "Date,Symbol,Side,Quantity,Price,Fee,Realized Profit\n2026-03-02,XYZ,Sell short,1,10,0,0\n2026-03-02,ETHUSDT,Buy,1,3500,1.4,-12\n"
        "2026-03-02,BTCUSDT,Buy,1,10,1,-1\n2026-03-03,BTCUSDT,Sell,1,12,1,2\n"
    )
    proposal = propose_profile(io.BytesIO(content.encode()))
    assert proposal is not None

    file = read_file(content, profiles=[decode_profile(write_toml(proposal.profile).encode())])

    told = "first fills have a Realized Profit, as if they closed what an earlier file opens: ETHUSDT"
    assert file.left_out.warnings == [told]


@for_rows("fee, told", [("1", ["Fee may be costs, which are not read"]), ("$0.00", [])])
def test_costs_that_a_format_does_not_read_are_told(fee: str, told: list[str]) -> None:
    file = read_file(f"Date,Time,Symbol,Side,Quantity,Price,Fee\n2026-03-02,10:00:00,QLTX,Buy,1,10,{fee}\n")

    assert len(read_positions_of(file)) == 1
    assert file.left_out.warnings == told


SHORT_ROWS = "ticker,tradeType,date,units,price,currency,note"


@for_rows(
    "rows, told",
    [
        (("10,2,USD", "10,3,USD"), ["rows have 6 cells and the header 7: is note empty in all of them?"]),
        (("10,2,USD,a", "10,3,USD"), None),  # which may be cut
        (("10,2", "10,3"), None),
        (("1,000,2", "1,000,3"), None),  # quantities of 1,000
    ],
)
def test_rows_without_the_last_cells_are_read_if_all_of_them_lack_what_nothing_reads(
    rows: tuple[str, str], told: list[str] | None
) -> None:
    buy, sell = rows
    whole = f"{SHORT_ROWS}\nQLTX,Buy,2026-03-02 10:00,10,2,USD,a\nQLTX,Sell,2026-03-03 10:00,10,3,USD,a\n"
    proposal = propose_profile(io.BytesIO(whole.encode()))
    assert proposal is not None

    file = read_file(
        whole.replace("10,2,USD,a", buy).replace("10,3,USD,a", sell),
        profiles=[decode_profile(write_toml(proposal.profile).encode())],
    )

    read = [show_trade(row)["gross_pnl"] for row in read_positions_of(file) if isinstance(row, FileTrade)]
    assert read == ([] if told is None else ["10"])
    if told is not None:
        assert file.left_out.warnings == told


def test_a_row_that_lacks_cells_is_refused_if_a_comma_in_a_number_may_have_made_others() -> None:
    file = read_file("Date,Time,Symbol,Side,Quantity,Price,a,b\n2026-03-02,10:00:00,QLTX,Buy,1,000,234.5\n")

    assert [row.reason for row in file.rows if isinstance(row, Rejected)] == ["has 7 cells where the header has 8"]


def test_costs_are_told_that_a_stored_profile_names_among_its_columns_only() -> None:
    profile = decode_profile(
        b'name = "P"\nkind = "fills"\nheader = ["Symbol", "Fee"]\nsymbol = "Symbol"\nquantity = "Quantity"\n'
        b'price = "Price"\nat = "Date"\n'
    )

    file = read_file("Date,Symbol,Quantity,Price,Fee\n2026-03-02,QLTX,1,10,2\n", profiles=[profile])

    assert file.left_out.warnings == ["Fee may be costs, which are not read"]


def test_a_short_trade_that_is_covered_in_parts_is_not_doubted_beside_results() -> None:
    rows = ["2026-03-02,QLTX,-20,10,0", "2026-03-03,QLTX,10,9,10", "2026-03-04,QLTX,10,8,20"]
    content = "\n".join(["Date,Symbol,Quantity,Price,Profit", *rows])
    proposal = propose_profile(io.BytesIO(content.encode()))
    assert proposal is not None

    file = read_file(content, profiles=[decode_profile(write_toml(proposal.profile).encode())])

    assert [row for row in file.left_out.warnings if "short" in row] == []


@for_rows("kind, tax, costs", [("DIVIDEND", "-4.50", ["fee"]), ("", "-9.50", ["fee", "tax"])])
def test_a_tax_that_is_withheld_from_income_is_no_cost(kind: str, tax: str, costs: list[str]) -> None:
    content = (
        "datetime,type,symbol,shares,price,amount,fee,tax\n2026-03-02T10:00:00Z,BUY,QLTX,2,180,-360,-1.00,\n"
        f"2026-03-05T10:00:00Z,{kind},QLTX,2,,0.48,,-0.07\n2026-03-09T10:00:00Z,SELL,QLTX,-2,190,380,-1.00,{tax}\n"
    )

    proposal = propose_profile(io.BytesIO(content.encode()))

    assert proposal is not None
    assert proposal.profile.costs is not None
    assert proposal.profile.costs.columns == costs
    assert ("tax may be costs: if they are, add them" in proposal.warnings) == (costs == ["fee"])


@for_rows(
    "symbols, own, told",
    [
        (("MES", "mnq"), {}, "MES, mnq may be futures"),
        (("MES", "mnq"), {"MES": 5}, "mnq may be futures"),
        (("RB2510", "i2509"), {}, "RB2510, i2509 may be futures"),
        (("小型期202602", "小型期202604"), {}, "小型期202602, 小型期202604 may be futures"),
        (("BTCUSDT", "NQ"), {}, "NQ may be futures"),
        (("CL", "QLTX"), {}, ""),  # shares
        (("MESH26", "CME:MNQ"), {}, ""),  # known as futures
    ],
)
def test_symbols_that_are_roots_of_futures_alone_are_told(
    symbols: tuple[str, ...], own: dict[str, int], told: str
) -> None:
    instruments = InstrumentTable({name: PositiveMoney(value) for name, value in own.items()})
    fills = "".join(f"2026-03-02 10:00,{name},Buy,1,100\n" for name in symbols)
    trades = "".join(f"2026-03-02 10:00,2026-03-02 11:00,{name},Buy,1,100,101\n" for name in symbols)
    for content in (
        f"Date,Symbol,Side,Qty,Price\n{fills}",
        f"Open Time,Close Time,Symbol,Side,Qty,Entry Price,Exit Price\n{trades}",
    ):
        proposal = propose_profile(io.BytesIO(content.encode()))
        assert proposal is not None

        profile = decode_profile(write_toml(proposal.profile).encode())
        warnings = read_file(content, profiles=[profile], instruments=instruments).left_out.warnings

        assert [text.partition(", and a point")[0] for text in warnings] == ([told] if told else [])


@for_rows("exit_price, told", [("101", 1), ("0.00", 0), ("", 0)])
def test_a_trade_with_an_exit_price_and_no_time_of_the_exit_is_told_as_open(exit_price: str, told: int) -> None:
    rows = f"QLTX,Long,1,100,105,{LONG}\nQLTX,Long,1,105,{exit_price},2026-03-02 10:00:00,1/0/00\n"
    content = f"Symbol,Side,Qty,Entry Price,Exit Price,Entry Time,Exit Time\n{rows}"
    proposal = propose_profile(io.BytesIO(content.encode()))
    assert proposal is not None

    file = read_file(content, profiles=[decode_profile(write_toml(proposal.profile).encode())])

    text = "trades that have an exit price and no time of the exit, which are read as open: 1"
    assert (len(read_positions_of(file)), file.left_out.warnings) == (2, [text] * told)


@for_rows("pnl, told", [(("5.5", "-4"), True), (("10.10", "-9"), False)])
def test_results_of_contracts_that_are_points_are_told(pnl: tuple[str, str], told: bool) -> None:
    content = (
        "Symbol,Side,Qty,Entry Price,Exit Price,Entry Time,Exit Time,P&L\n"
        f"MNQH26,Long,1,100,105.5,{LONG},{pnl[0]}\nMNQH26,Long,1,105,101,{SHORT},{pnl[1]}\n"
    )
    proposal = propose_profile(io.BytesIO(content.encode()))
    assert proposal is not None

    file = read_file(content, profiles=[decode_profile(write_toml(proposal.profile).encode())])

    assert len(read_positions_of(file)) == 2
    text = "a point of MNQH26 is worth 1 by its results, not 2: are the results points?"
    assert file.left_out.warnings == ([text] if told else [])


def test_a_result_in_another_currency_than_the_prices_shows_no_point_value() -> None:
    content = (
        "Action,Time,Ticker,No. of shares,Price / share,Currency (Price / share),Result,Currency (Result)\n"
        "Market buy,2026-05-02 14:30:05,QLTX,10,150,USD,,\nLimit sell,2026-06-26 15:45:10,QLTX,10,160,USD,50,GBP\n"
    )
    proposal = propose_profile(io.BytesIO(content.encode()))
    assert proposal is not None

    file = read_file(content, profiles=[decode_profile(write_toml(proposal.profile).encode())])

    (trade,) = [row for row in read_positions_of(file) if isinstance(row, FileTrade)]
    assert show_trade(trade)["gross_pnl"] == "100"


@for_rows(
    "content, warning",
    [
        ("QLTX,Buy,10,2.5\nQLTX,Sell,10,3\n", "no column is known as quantity, price, at: name it here"),
        ("Date,Type,Value,Fees,Shares,Symbol\n2026-03-02,Buy,102,2,10,QLTX\n", "Value is taken to include the costs"),
        (
            "Date,Type,Desk,Size,Price\n2026-03-02,Buy,QLTX,1,9\n2026-03-03,Buy,ACMX,1,9\n",
            "Desk is taken for the symbol",
        ),
        ("Date,Type,Symbol,Size,Price,Fee Quantity\n2026-03-02,Buy,QLTX,1,9,2\n", "Fee Quantity may be costs"),
        ("Date,Type,Symbol,Size,Price,Fee\n2026-03-02,Buy,QLTX,1,9,0.1%\n", "Fee may be costs"),
        (
            "Date,Type,Symbol,Size,Price,STT\n"
            + "".join(f"2026-03-02,Buy,QLTX,8,{price},{price * 0.0008:.2f}\n" for price in (2950, 1475, 2975)),
            "STT may be costs",  # the same share of each value
        ),
        (
            "Ticker,Entry Time,Exit Time,Entry Price,Exit Price\nQLTX,2026-03-02 10:00,2026-03-02 11:00,1,2\n",
            "no column is known as quantity: name it here, or state it for all rows as =1",
        ),
        ("Symbol,Quantity,Price,Value\nQLTX,10,5,50\n", "the file may have no trades"),
        ("Symbol,Holding Date,Quantity,Price\nQLTX,2026-03-31,-10,5\n", "the file may have no trades"),
        (
            "Date,Symbol,Text,Side,Quantity,Price\n2026-03-02,QLTX,CALL QLTX $12 EXP 04/17/26,Buy,1,2\n",
            "Text names options, which are read as shares",
        ),
        (
            "Date,Symbol,Side,Quantity,Price,Status\n2026-03-02,QLTX,Buy,1,2,Vol\n2026-03-03,QLTX,Sell,1,3,Non\n",
            "Status is Vol, Non: if some are not filled, state where",
        ),
        (
            "Date,Symbol,Side,Quantity,Price,Paid\n"
            + "".join(f"2026-03-0{n},1101,Buy,{n},33,{n * 33_000 + 40}\n" for n in (2, 3, 4)),
            "Paid is 1000 times Quantity times Price: if a lot is 1000, state the multiplier",
        ),
        (
            "Asset,Lots,Open,Close,Entry,Exit,ExitType\nQLTX,1,2026-03-02 10:00,2026-03-02 11:00,1,2,Open\n",
            "ExitType is Open in rows with Close: are these trades closed?",
        ),
    ],
)
def test_a_proposal_says_what_the_file_lacks(content: str, warning: str) -> None:
    proposal = propose_profile(io.BytesIO(content.encode()))

    assert proposal is not None
    assert any(text.startswith(warning) for text in proposal.warnings)


@for_rows(
    "between, size, warning",
    [
        (
            ",Trading Fee,QLTX,,",
            "10",
            "costs that stand in rows of their own are in no trade: Transaction Type is 'Tradi",
        ),
        (
            "2026-03-02 11:00:00,Expired,QLTX,3,",
            "10",
            "positions that these rows end or change stay as they are: Transaction Type is 'Expired'",
        ),
        ("", "-10", "purchases with a negative Quantity, which are read as purchases: 1"),
        (
            "2026-03-02 11:00:00,Buy Trade,,3,5",
            "10",
            "purchases and sales without a symbol, which are not imported: 1",
        ),
        (
            "2026-03-02 11:00:00,Redemption,QLTX,3,5",
            "10",
            "rows with a quantity and a price are in no trade: Transaction Type is Redemption",
        ),
        ("2026-03-02 11:00:00,,,3,5", "10", "purchases and sales without a symbol, which are not imported: 1"),
        (
            "2026-03-02 11:00:00,Cancel Buy,QLTX,10,5",
            "10",
            "what these rows cancel is imported: Transaction Type is 'Cancel Buy'",
        ),
    ],
)
def test_costs_in_rows_of_their_own_and_signs_against_the_sides_are_told(between: str, size: str, warning: str) -> None:
    content = (
        f"Time,Transaction Type,Asset Id,Quantity,Price\n2026-03-02 10:00:00,Buy Trade,QLTX,{size},5\n"
        f"{between}\n2026-03-03 10:00:00,Sell Trade,QLTX,10,6\n"
    )
    proposal = propose_profile(io.BytesIO(content.encode()))
    assert proposal is not None

    file = read_file(content, profiles=[decode_profile(write_toml(proposal.profile).encode())])

    (told,) = file.left_out.warnings
    assert told.startswith(warning)


@for_rows(
    "costs, warnings",
    [(",1", []), (",", ["Net amount differs from Price times Qty by what may be costs, which are not read"])],
)
def test_costs_that_only_the_values_have_are_told(costs: str, warnings: list[str]) -> None:
    rows = (f"2026-03-0{n},QLTX,{side},10,5,{net}{costs}\n" for n, side, net in ((2, "Buy", 51), (3, "Sell", 49)) * 2)
    content = f"Date,Symbol,Side,Qty,Price,Net amount,Fee\n{''.join(rows)}"
    proposal = propose_profile(io.BytesIO(content.encode()))
    assert proposal is not None

    file = read_file(content, profiles=[decode_profile(write_toml(proposal.profile).encode())])

    assert file.left_out.warnings == warnings


DAS = """\
Time,Symb,Side,Price,Qty,Account,Type,P / L,
09:43:10,QLTX,S,51.93,400,SIM,Margin,400.00,
09:36:04,QLTX,B,50.93,400,SIM,Margin,0.00,
"""
DAS_PROFILE = {
    "name": "DAS",
    "kind": "fills",
    "header": ["Symb", "P / L"],
    "symbol": "Symb",
    "side": {"column": "Side", "long": ["B"], "short": ["S"]},
    "quantity": "Qty",
    "price": "Price",
    "at": "Time",
}


@for_rows(
    "columns, cells, warnings",
    [
        (
            "Account,Sub Account,Account Type",
            ("X,1,Cash", "X,2,Margin"),
            ["Sub Account has several values, and only Account names the account"],
        ),
        ("Fee,Fee Coin", ("1,BNB", "1,BNB"), ["costs in BNB, which are not converted, are left out: 2"]),
        ("Fee,Fee Coin", ("1,USD", "1,USD"), []),
        ("Paid", ("€1,000.00", "-250.5 SEK"), ["Paid is in SEK, €: amounts are not converted, sums of them are wrong"]),
        (
            "Fee,,Note,",
            ("1,SEK,,y", "1,EUR,,y"),
            ["column 7 is in EUR, SEK: amounts are not converted, sums of them are wrong"],
        ),
        ("Traded in", ("SEK", "EUR"), ["Traded in is in EUR, SEK: amounts are not converted, sums of them are wrong"]),
        (
            "Status,Filled Qty",
            ("Filled,1", "Canceled,1"),
            ["cancelled orders with a filled quantity, which is read as their fill: 1"],
        ),
    ],
)
def test_a_column_that_is_not_read_is_told_if_trades_may_be_wrong(
    columns: str, cells: tuple[str, str], warnings: list[str]
) -> None:
    content = (
        f"Date,Symbol,Side,Qty,Price,{columns}\n2026-03-04 10:00,BTCUSD,Buy,1,10,{cells[0]}\n"
        f"2026-03-04 11:00,BTCUSD,Sell,1,11,{cells[1]}\n"
    )
    proposal = propose_profile(io.BytesIO(content.encode()))
    assert proposal is not None

    file = read_file(content, profiles=[decode_profile(write_toml(proposal.profile).encode())])

    assert file.left_out.warnings == warnings


async def test_all_that_a_file_does_not_say_is_asked_at_once(client: Client, account_id: int) -> None:
    await client.post("/import-profiles", json=DAS_PROFILE)
    file = DAS.replace("Account", "Route")

    refused = await send_file(client, file, None, timezone=None)
    report = await create_import(client, file, timezone="America/New_York", day="2026-02-19")

    assert error_of(refused) == (400, "validation_error")
    assert sorted(details_of(refused)["fields"]) == ["account_id", "day", "timezone"]
    assert report["counts"]["new"] == 1
    (trade,) = unwrap(await client.get("/trades"))
    assert (trade["opened_at"], trade["gross_pnl"]) == ("2026-02-19T14:36:04.000000Z", 400)


def test_the_command_states_the_day_and_leaves_rows_with_errors_out(tmp_path: Path) -> None:
    (tmp_path / "das.csv").write_text(DAS + "09:50:00,QLTX,B,a lot,1,SIM,Margin,,\n")
    (tmp_path / "das.toml").write_text(
        "\n".join(f"{name} = {write_value(value)}" for name, value in DAS_PROFILE.items())
    )

    options = ("--profile", str(tmp_path / "das.toml"), "--day", "2026-02-19", "--skip-errors")
    ran = import_file(tmp_path / "journal.db", tmp_path / "das.csv", *options)

    assert ran.code == 0
    assert "1 left out: cannot be read: Price must be a number ('a lot')" in ran.err
    assert "1 new" in ran.out


BAD = """\
symbol,direction,quantity,entry_price,exit_price,opened_at,closed_at
QLTX,long,1,100,101,2026-01-05T14:00:00Z,2026-01-05T15:00:00Z
QLTX,long,some,100,101,2026-01-06T14:00:00Z,2026-01-06T15:00:00Z
XYZH6,long,1,100,101,2026-01-07T14:00:00Z,2026-01-07T15:00:00Z
"""


async def test_the_rest_of_a_file_with_errors_is_imported_if_that_is_asked_for(client: Client, account_id: int) -> None:
    dry = await create_import(client, BAD, account_id=account_id, dry_run="true")
    assert dry["counts"] == {"new": 1, "duplicate": 0, "updated": 0, "error": 2}

    report = await create_import(client, BAD, account_id=account_id, skip_errors="true")

    assert report["counts"] == {"new": 1, "duplicate": 0, "updated": 0, "error": 0}
    reasons = [part["reason"].split(" is ")[0] for part in report["left_out"]]
    assert reasons == ["cannot be read: quantity must be a number ('some')", "cannot be read: multiplier"]


def test_a_line_at_which_reading_ends_is_an_error_whatever_is_left_out() -> None:
    content = BAD + '"not CSV"at all\n' + BAD.splitlines()[1]

    file = read_file(content, skip_errors=True)

    assert [row.reason[:10] for row in read_positions_of(file) if isinstance(row, Rejected)] == ["is not CSV"]


@for_rows(
    "header, words",
    [
        ("Account,Transaction ID,Timestamp,Date,Delta,Amount,Cash Change Type,Currency", "Tradovate's cash history"),
        ("<DATE>\t<BALANCE>\t<EQUITY>\t<DEPOSIT LOAD>", "a curve of the balance"),
        ("Timestamp (UTC),Currency,Amount,To Currency,To Amount,Native Amount,Transaction Kind", "the Crypto.com app"),
        ("Time,Balance before,Balance after,Profit", "a balance history of TradingView"),
        ("Datum,Tijd,Valutadatum,Product,ISIN,Omschrijving,FX,Mutatie,,Saldo,,Order Id", "DEGIRO's account"),
        ("Bars in test,31033,Ticks modelled,1567268", "strategy tester"),
        ("Symbol,ActivityCode,ActivityDescription,Amount,Balance", "statement of funds"),
        ("Type,Input Currency,Input Amount,Output Currency,Output Amount,USD Equivalent,Date / Time (UTC)", "Nexo's"),
        ("instrument_id,open_date,quantity,open_price,current_price", "a list of holdings"),
        (
            "入金日,商品,銘柄,単価[円/現地通貨],数量[株/口],配当・分配金合計（税引前）[円/現地通貨]",
            "a list of dividends",
        ),
        ("Entrada/Saída;Data;Movimentação;Produto;Instituição;Quantidade;Preço unitário", "B3's list of movements"),
        ("Wertpapierbezeichnung;ISIN;Einstiegskurs;Bewertungskurs;Stückzahl", "a list of holdings"),
    ],
)
async def test_a_file_without_trades_is_told_by_name_with_what_to_export_instead(
    client: Client, account_id: int, header: str, words: str
) -> None:
    refused = await send_file(
        client, f"{header}\n{','.join('1' for _ in header.split(','))}\n", account_id, dry_run="true"
    )

    assert error_of(refused) == (400, "validation_error")
    reason = details_of(refused)["reason"]
    assert words in reason
    assert "which has no trades: export " in reason
